import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { pair, serverKeyOf } from './a2a-peer.ts';
import { moduleAgent, System } from './system.ts';

// Clients in Python, which share no code with the server.

const SCHEMAS = fileURLToPath(new URL('../../packages/a2a-messages-schemas/python', import.meta.url));
const CLIENT = fileURLToPath(new URL('foreign_client.py', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dragoman-foreign-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const python = pythonWithPackages();
if ('missing' in python) console.warn(`foreign clients are NOT RUN: ${python.missing}`);

describe.skipIf('missing' in python)('a foreign client in Python', async () => {
  const system = await System.start({
    config: { default_agent: 'echo', agents: { echo: moduleAgent('echo') } },
  });
  afterAll(() => system[Symbol.asyncDispose]());
  const keys = pair();
  const { api_key } = await system.caller('foreign-agent', { permissions: { agents: ['*'] }, public_key: keys.pem });
  const environment = {
    FOREIGN_URL: system.url,
    FOREIGN_KEY: api_key,
    FOREIGN_PRIVATE_KEY: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    FOREIGN_SERVER_KEY: await serverKeyOf(system, api_key),
  };

  test.each([
    ['is answered over HTTP, with numbers that no double holds', 'e2a_http'],
    ['reads a stream of frames over SSE', 'e2a_sse'],
    ['sends a signed A2A message and verifies the signed answer', 'signed_message'],
  ])('%s', (_, name) => {
    const { status, stdout, stderr } = run([CLIENT, name], environment);
    expect([status, stdout.trim()], stderr).toEqual([0, 'ok']);
  });
});

function run(args: readonly string[], environment: Record<string, string> = {}) {
  const command = 'command' in python ? python.command : 'python3';
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: SCHEMAS, ...environment };
  return spawnSync(command, args, { encoding: 'utf8', env });
}

/** A Python with what the clients need: the one that is there, else one in a temporary folder. */
function pythonWithPackages(): { command: string } | { missing: string } {
  const has = (command: string) => spawnSync(command, ['-c', 'import pydantic, cryptography, jsonschema']).status === 0;
  if (has('python3')) return { command: 'python3' };
  if (spawnSync('python3', ['-m', 'venv', join(folder, 'venv')]).status !== 0) {
    return { missing: 'python3 with venv is not installed' };
  }
  const command = join(folder, 'venv', 'bin', 'python');
  const packages = ['pydantic', 'cryptography', 'jsonschema'];
  const installed = spawnSync(command, ['-m', 'pip', 'install', '--quiet', ...packages], { encoding: 'utf8' });
  return installed.status === 0 && has(command)
    ? { command }
    : { missing: `pip could not install ${packages.join(', ')}` };
}

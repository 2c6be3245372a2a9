import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { Receiver } from './receiver.ts';
import { moduleAgent, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

// The official Python SDKs of Linux Foundation A2A as clients, each in a temporary environment of its own.

const PATIENCE_MS = 45_000;

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-a2a-python-'));
const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});
const environments = Object.fromEntries(
  await Promise.all(['1.3.0', '0.3.26'].map(async (version) => [version, await environmentWith(version)] as const)),
);

describe.each([
  ['1.3.0', 'a2a_client_10.py'],
  ['0.3.26', 'a2a_client_03.py'],
])('the official Python SDK %s', (version, file) => {
  const python = environments[version] ?? { missing: 'it was not tried' };
  if ('missing' in python) console.warn(`the Python SDK ${version} is NOT RUN: ${python.missing}`);

  test.skipIf('missing' in python)(
    'sends, streams, reads, resubscribes, cancels, registers a URL and gets errors',
    async () => {
      await using system = await System.start({
        config: {
          default_agent: 'worker',
          agents: { worker: moduleAgent('worker') },
          gate: { callbacks: [receiver.hostPort], ca: [authority.path] },
        },
      });
      const { api_key: key } = await system.caller('python-agent');
      const path = `/python-${version}`;
      const { stdout } = await execute(
        'command' in python ? python.command : '',
        [fileURLToPath(new URL(file, import.meta.url))],
        {
          env: {
            PATH: process.env['PATH'],
            A2A_URL: system.url,
            A2A_KEY: key,
            A2A_PUSH_URL: receiver.url(path),
            PYTHONDONTWRITEBYTECODE: '1',
          },
          timeout: 60_000,
        },
      );
      const seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
      expect(seen).toMatchObject({
        stream: ['completed', 'Hello world'],
        get: ['completed', 'Hello world'],
        push: true,
        resubscribe: ['working', 'canceled'],
        cancel: 'canceled',
      });
      expect(String(seen['error']).toLowerCase()).toContain('task not found');
      await expect.poll(() => receiver.received.filter((one) => one.path === path).length).toBeGreaterThan(0);
    },
  );
});

/** A Python with one version of the SDK, or why there is none. */
async function environmentWith(version: string): Promise<{ command: string } | { missing: string }> {
  const home = join(folder, version);
  if (spawnSync('python3', ['-c', 'import venv']).status !== 0)
    return { missing: 'python3 with venv is not installed' };
  const command = join(home, 'bin', 'python');
  const packages = [`a2a-sdk==${version}`, 'httpx'];
  try {
    await execute('python3', ['-m', 'venv', home]);
    await execute(command, ['-m', 'pip', 'install', '--quiet', '--retries', '0', '--no-compile', ...packages], {
      timeout: PATIENCE_MS,
    });
    return { command };
  } catch {
    return { missing: `pip could not install ${packages.join(', ')} in ${PATIENCE_MS / 1000} s` };
  }
}

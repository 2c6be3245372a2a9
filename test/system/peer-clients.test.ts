import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScriptedModel } from '../../packages/core/test-support/scripted-model.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { INSTALL_MS, installFromNpm, installFromPyPI, NODE_22, node22In, whyNotRun } from './peers/install.ts';
import { agentModule, moduleAgent, System } from './system.ts';

// Clients that are installed from a registry for the test: OpenAI's and FastMCP's in Python, the Vercel AI SDK and the MCP Inspector on
// Node 22. They run with DRAGOMAN_PEERS=1.

const execute = promisify(execFile);
const peer = (file: string) => fileURLToPath(new URL(`./peers/${file}`, import.meta.url));
const lastLine = (text: string) => JSON.parse(text.trim().split('\n').at(-1) ?? '') as JsonObject;
const RUN_MS = 60_000;
const PATIENCE = { timeout: INSTALL_MS + RUN_MS };

const started: AsyncDisposable[] = [];
let folder = '';
let server = { url: '', key: '' };
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-peers-'));
  server = await start();
  env = { ...process.env, PEER_URL: server.url, PEER_KEY: server.key, PYTHONDONTWRITEBYTECODE: '1' };
});
afterAll(async () => {
  for (const one of started.reverse()) await one[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Calls the caller's function once, then sends its result. */
async function start(): Promise<{ readonly url: string; readonly key: string }> {
  const model = await ScriptedModel.start((body: JsonObject) => {
    const last = (body['messages'] as JsonObject[]).at(-1);
    return last?.['role'] === 'tool'
      ? { text: [`It says: ${last['content']}`] }
      : { calls: [['weather', { city: 'Oslo' }]] };
  });
  started.push(model);
  const system = await System.start({
    config: {
      agents: {
        worker: moduleAgent('worker'),
        forms: moduleAgent('form-asker'),
        helper: { driver: 'openai', base_url: model.url, model: 'small' },
      },
      tools: [agentModule('work-tool')],
    },
  });
  started.push(system);
  const { api_key: key } = await system.caller('peer-agent', { permissions: { agents: ['*'], tools: ['*'] } });
  return { url: system.url, key };
}

describe.skipIf(whyNotRun('clients in Python are', 'python3'))('in Python,', () => {
  /** Runs a client in an environment of its own, and gives what it printed. */
  async function inPython(packages: readonly string[], file: string): Promise<JsonObject> {
    const python = await installFromPyPI(join(folder, file), packages);
    return lastLine((await execute(python, [peer(file)], { env, timeout: RUN_MS })).stdout);
  }

  test('OpenAI’s Python client completes, responds, streams and resumes', PATIENCE, async () => {
    expect(await inPython(['openai==3.51.0'], 'openai_client.py')).toEqual({
      models: ['forms', 'helper', 'worker'],
      chat: 'Hello world',
      chat_stream: 'Hello world',
      response: 'Hello world',
      retrieved: 'Hello world',
      response_stream: 'Hello world',
      numbers_rise: true,
      resumed_at: 3,
      unknown: 'model_not_found',
      failed: 502,
    });
  });

  test('FastMCP’s client calls tools, answers a question and reads resources', PATIENCE, async () => {
    expect(await inPython(['fastmcp==4.1.2'], 'fastmcp_client.py')).toMatchObject({
      tools: expect.arrayContaining(['ask_worker', 'work', 'get_answer']),
      text: 'Hello world',
      form: 'Hello Ada',
      prompts: expect.arrayContaining(['ask_worker']),
      resource: 'Hello world',
      progress_rises: true,
      failed: expect.stringContaining('it failed'),
    });
  });
});

describe.skipIf(whyNotRun('clients on Node 22 are', 'npm'))('on Node 22,', () => {
  let home = '';
  let node = '';
  beforeAll(async () => {
    home = join(folder, 'npm');
    const sdk = ['ai@7.0.173', '@ai-sdk/openai-compatible@3.0.92', 'zod@4.6.7'];
    node = node22In(await installFromNpm(home, [NODE_22, ...sdk, '@modelcontextprotocol/inspector@2.12.0']));
  }, INSTALL_MS);

  test('the Vercel AI SDK generates, streams and runs a tool of its own', PATIENCE, async () => {
    // Imports are looked up from the file.
    copyFileSync(peer('ai-sdk-client.mjs'), join(home, 'client.mjs'));
    expect(lastLine((await execute(node, [join(home, 'client.mjs')], { env, timeout: RUN_MS })).stdout)).toEqual({
      text: 'Hello world',
      streamed: 'Hello world',
      cities: ['Oslo'],
      helped: 'It says: rain',
      tokens: 30,
      unknown: 404,
    });
  });

  test('the MCP Inspector lists tools and asks an agent', PATIENCE, async () => {
    const inspect = async (...args: readonly string[]) => {
      const to = ['--cli', `${server.url}/mcp`, '--transport', 'http'];
      const header = ['--header', `Authorization: Bearer ${server.key}`];
      const run = [join(home, 'node_modules', '.bin', 'mcp-inspector'), ...to, ...header, ...args];
      return JSON.parse((await execute(node, run, { cwd: folder, env, timeout: RUN_MS })).stdout) as JsonObject;
    };
    expect(await inspect('--method', 'tools/list')).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'ask_worker' })]),
    });
    const callArgs = ['--method', 'tools/call', '--tool-name', 'ask_worker', '--tool-arg', 'prompt=work'];
    expect(await inspect(...callArgs)).toMatchObject({
      structuredContent: { status: 'completed', text: 'Hello world' },
    });
  });
});

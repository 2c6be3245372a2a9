import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { Caller, fresh } from './caller.ts';
import { moduleAgent, System } from './system.ts';

// Programs of others, for real: with DRAGOMAN_PEERS=1, as far as they are installed.

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-acp-peers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Why a peer is not run; nothing when it is. */
function missing(peer: string, find: () => string | undefined): string | undefined {
  const why = process.env['DRAGOMAN_PEERS'] === '1' ? find() : 'DRAGOMAN_PEERS is not 1';
  if (why !== undefined) console.warn(`${peer} is NOT RUN: ${why}`);
  return why;
}

function inPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((one) => existsSync(join(one, name))) ? undefined : `there is no ${name} in PATH`;
}

const python = join(folder, 'python', 'bin', 'python');
const noPython = missing('the Python SDK of ACP', () => {
  const made = spawnSync('python3', ['-m', 'venv', join(folder, 'python')], { timeout: 30_000 });
  if (made.status !== 0) return 'python3 cannot make an environment';
  const words = ['-m', 'pip', 'install', '-q', '--retries', '0', 'agent-client-protocol==0.12.1'];
  const installed = spawnSync(python, words, { timeout: 60_000 });
  return installed.status === 0 ? undefined : 'pip cannot install agent-client-protocol 0.12.1';
});

test.skipIf(noPython)(
  'the Python SDK prompts, gets a question, cancels, lists and loads',
  { timeout: 120_000 },
  async () => {
    await using system = await System.start({
      config: { default_agent: 'worker', agents: { worker: moduleAgent('worker'), asker: moduleAgent('asker') } },
    });
    const { api_key: key } = await system.caller('python-agent');
    const file = fileURLToPath(new URL('acp_client.py', import.meta.url));
    const words = [file, process.execPath, system.command, 'acp', '--url', system.url];
    const env = { PATH: process.env['PATH'], DRAGOMAN_KEY: key, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await execute(python, words, { env, timeout: 90_000 });
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
      initialize: [1, 'dragoman'],
      prompt: ['end_turn', 'Hello world'],
      allow: ['end_turn', expect.stringContaining('answered: allow')],
      reject: ['end_turn', expect.stringContaining('answered: reject')],
      cancel: 'cancelled',
      list: true,
      load: ['user_message_chunk', 'agent_message_chunk'],
    });
  },
);

const acpx = 'acpx';
const noAcpx = missing(acpx, () => {
  const isThere = spawnSync(acpx, ['--version'], { timeout: 20_000 }).status === 0;
  return isThere ? undefined : (inPath(acpx) ?? 'it does not start; it needs Node 22 in PATH');
});

test.skipIf(noAcpx)('acpx prompts an agent', { timeout: 60_000 }, async () => {
  await using system = await System.start({ config: { agents: { worker: moduleAgent('worker') } } });
  const { api_key: key } = await system.caller('acpx-agent');
  const agent = `${process.execPath} ${system.command} acp --url ${system.url} --agent worker`;
  const env = { PATH: process.env['PATH'], HOME: folder, DRAGOMAN_KEY: key };
  const words = ['--cwd', folder, '--approve-all', '--agent', agent, 'exec', 'hello'];
  expect((await execute(acpx, words, { env, timeout: 50_000 })).stdout).toContain('Hello world');
});

const noGoAgent = missing('the Go example agent', () =>
  existsSync(process.env['DRAGOMAN_ACP_GO_AGENT'] ?? '')
    ? undefined
    : 'DRAGOMAN_ACP_GO_AGENT does not name the program built from github.com/coder/acp-go-sdk/example/agent',
);

test.skipIf(noGoAgent)('the Go example agent asks to edit, and continues', { timeout: 60_000 }, async () => {
  const command = process.env['DRAGOMAN_ACP_GO_AGENT'] ?? '';
  await using system = await System.start({ config: { agents: { go: { driver: 'acp', command } } } });
  const { api_key: key } = await system.caller('ada-agent');
  const envelope = { request_id: fresh(), method: 'chat.send', params: { content: 'hello' }, agent_ref: { id: 'go' } };
  const answered = new Caller(system, key).post(envelope);
  await answerFirst(system, key, 'allow');
  expect(JSON.stringify(await (await answered).json())).toContain('The changes have been applied.');
});

const noGoose = missing(
  'goose',
  () => inPath('goose') ?? (process.env['GOOSE_PROVIDER'] ? undefined : 'GOOSE_PROVIDER is not set'),
);

test.skipIf(noGoose)('goose answers with the provider of the environment', { timeout: 90_000 }, async () => {
  const names = ['GOOSE_PROVIDER', 'GOOSE_MODEL', 'OPENAI_API_KEY', 'OPENAI_HOST', 'GOOSE_DISABLE_KEYRING'];
  const set = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] as string]]));
  const env = { ...Object.fromEntries(set), HOME: folder, GOOSE_MODE: 'approve' };
  const goose = { driver: 'acp' as const, command: 'goose', args: ['acp', '--with-builtin', 'developer'], env };
  await using system = await System.start({ config: { agents: { goose } } });
  const { api_key: key } = await system.caller('ada-agent');
  const params = { content: 'say hello' };
  const answer = await new Caller(system, key).post({
    ...{ request_id: fresh(), method: 'chat.send', params },
    agent_ref: { id: 'goose' },
  });
  expect(await answer.json()).toMatchObject({ status: 'succeeded', body: { result: { text: expect.any(String) } } });
});

async function answerFirst(system: System, key: string, optionId: string): Promise<void> {
  const open = async () => {
    const listed = await call(system.url, { path: '/e2a/questions', key });
    return ((await listed.json()) as { questions: JsonObject[] }).questions;
  };
  await expect.poll(open, { timeout: 30_000 }).toHaveLength(1);
  const [question = {}] = await open();
  const path = `/e2a/requests/${question['request_id']}/questions/${question['question_id']}`;
  await call(system.url, { method: 'POST', path, key, json: { option_id: optionId } });
}

import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type E2AResponse, newEnvelope } from '@dragoman/protocols';
import { expect, onTestFinished, test } from 'vitest';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import { TestIds } from '../../../test-support/test-ids.ts';
import { ALL_PERMISSIONS, type Principal } from '../../call/principal.ts';
import { Engine } from '../../engine/engine.ts';
import { LimitedLog } from '../../ports/limited-log.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import { eventually } from '../call.contract.ts';
import { AcpAgent } from './acp-agent.ts';
import { acpChild } from './acp-child.ts';

// Recorded third-party programs, played back to the driver.

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const log = new SilentLog();
const ADA: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };

function replaying(name: string) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-acp-')));
  const store = memoryStore();
  const engine = new Engine({ store, clock: systemClock, ids: new TestIds(), log, defaultAgent: 'coder' });
  const childrenFolder = join(folder, 'children');
  const open = acpChild({
    id: 'coder',
    command: process.execPath,
    args: [join(fixtures, 'acp-replay.mjs'), join(fixtures, 'acp-logs', `${name}.ndjson`)],
    env: async () => ({}),
    childrenFolder,
    clock: systemClock,
    log: new LimitedLog({ log, clock: systemClock }),
    reader: new JsonReader(),
  });
  const agent = new AcpAgent({
    id: 'coder',
    open,
    cwd: folder,
    access: { files: 'local', terminals: 'local' },
    permissions: {},
    workspaces: [],
    startTimeoutMs: 10_000,
    version: '1',
    sessions: store.sessions,
    folder,
    childrenFolder,
    clock: systemClock,
    log,
  });
  engine.addAgent(agent, { maxParallel: 8 });
  onTestFinished(async () => {
    await engine.stop({ drainMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  });
  let requests = 0;
  const ask = (content: string) => {
    requests += 1;
    const requestId = `r${requests}`;
    const envelope = newEnvelope({
      ...{ request_id: requestId, session_id: 's', method: 'chat.send', is_stream: true },
      params: { content },
    });
    const frames: E2AResponse[] = [];
    const over = (async () => {
      const call = { principal: ADA, signal: new AbortController().signal, log };
      for await (const frame of engine.handle(envelope, call)) frames.push(frame);
      return frames;
    })();
    return { requestId, frames, over };
  };
  const answer = async (optionId: string) => {
    await eventually(() => engine.questions.openFor(ADA).length).toBe(1);
    const [open] = engine.questions.openFor(ADA);
    const questionId = open?.question.question_id ?? '';
    await engine.questions.answer({ questionId }, { option_id: optionId }, { principal: ADA, channel: 'test' });
    return open?.question;
  };
  return { ask, answer, engine, folder };
}

function textOf(frames: readonly E2AResponse[]): string {
  return frames.flatMap(({ body }) => (body['delta_kind'] === 'text' ? [String(body['delta'])] : [])).join('');
}

test('every log names its source', () => {
  for (const file of readdirSync(join(fixtures, 'acp-logs'))) {
    const [first = ''] = readFileSync(join(fixtures, 'acp-logs', file), 'utf8').split('\n');
    expect(JSON.parse(first)).toEqual({
      about: expect.stringMatching(/^(Recorded on|Written by hand, not recorded:) /),
    });
  }
});

test('goose answers, runs a command through a terminal of this server after it was allowed, and is cancelled', async () => {
  const { ask, answer, engine, folder } = replaying('goose');
  const hello = await ask('hello there').over;
  expect(textOf(hello)).toMatch(/^mock says: /);
  expect(hello.at(-1)).toMatchObject({ body: { result: { usage: { totalTokens: 15 } } } });
  const tool = ask('please use a TOOL now');
  expect(await answer('allow_once')).toMatchObject({
    title: 'shell · echo mocked > mocked.txt',
    options: [{ id: 'allow_always' }, { id: 'allow_once' }, { id: 'reject_once' }, {}],
  });
  expect(textOf(await tool.over)).toBe('The tool has run.');
  // Its command is a line for a shell.
  expect(readFileSync(join(folder, 'mocked.txt'), 'utf8')).toBe('mocked\n');
  const slow = ask('be SLOW please');
  await eventually(() => textOf(slow.frames)).toContain('s5');
  engine.runs.cancel({ owner: 'ada', requestId: slow.requestId });
  expect((await slow.over).at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
});

test('the Go example agent reads, asks to edit, is allowed to, and is cancelled', async () => {
  const { ask, answer, engine } = replaying('go-example');
  const first = ask('hello there');
  expect(await answer('allow')).toMatchObject({
    title: 'Modifying critical configuration file',
    subject: { tool_call_id: 'call_2', tool_kind: 'edit' },
  });
  const frames = await first.over;
  expect(textOf(frames)).toContain('The changes have been applied.');
  const tools = frames.flatMap(({ body }) => (body['delta_kind'] === 'tool' ? [body['delta']] : []));
  expect(tools.at(0)).toMatchObject({ tool_call_id: 'call_1', kind: 'read', status: 'pending' });
  expect(tools.at(-1)).toMatchObject({ tool_call_id: 'call_2', status: 'completed' });
  const slow = ask('be SLOW please');
  await eventually(() => slow.frames.some(({ body }) => body['delta_kind'] === 'tool')).toBe(true);
  engine.runs.cancel({ owner: 'ada', requestId: slow.requestId });
  expect((await slow.over).at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
});

test('a slow program is waited for', async () => {
  expect(textOf(await replaying('slow').ask('hi').over)).toBe('at last');
});

test('an update before the session exists is kept for its first turn', async () => {
  const frames = await replaying('early-update').ask('hi').over;
  expect(frames[0]?.body).toMatchObject({ update: { availableCommands: [{ name: 'review' }] } });
  expect(textOf(frames)).toBe('hello');
});

test('a permission request that is the first message about a tool call announces the call', async () => {
  const { ask, answer } = replaying('permission-first');
  const { over } = ask('test it');
  expect(await answer('once-all')).toMatchObject({ subject: { tool_call_id: 'shell-1' } });
  const frames = await over;
  const tools = frames.flatMap(({ body }) => (body['delta_kind'] === 'tool' ? [body['delta']] : []));
  expect(tools).toMatchObject([
    { tool_call_id: 'shell-1', title: 'make test', status: 'pending' },
    { tool_call_id: 'shell-1', title: 'make test', status: 'completed' },
  ]);
  expect(textOf(frames)).toBe('done');
});

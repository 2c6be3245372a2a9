import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@dragoman/protocols';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../../test-support/is-alive.ts';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { eventually } from '../call.contract.ts';
import { ADA, Coder, textOf } from './coder.contract.ts';

test('a prompt is answered by chunks, and ends with the whole text', async () => {
  const frames = await new Coder().ask('echo hello there').over;
  expect(frames.map(({ body, response_kind: kind }) => body['delta_kind'] ?? kind)).toEqual([
    'acp.session_update',
    'reasoning',
    'text',
    'text',
    'text',
    'e2a.complete',
  ]);
  expect(frames.at(-1)?.body['result']).toEqual({ text: 'echo hello there ' });
  expect(frames[2]).toMatchObject({
    provenance: { source_protocol: 'acp' },
    projections: { acp: { params: { update: { sessionUpdate: 'agent_message_chunk' } } } },
  });
});

test('tools are chunks with a standard status; plans are updates', async () => {
  const frames = await new Coder().ask('tool').over;
  expect(frames.flatMap(({ body }) => (body['delta_kind'] === 'tool' ? [body['delta']] : []))).toMatchObject([
    { tool_call_id: 't1', status: 'completed' },
    { tool_call_id: 't2', title: 'Edit a.txt', status: 'pending' },
    { tool_call_id: 't2', title: 'Edit a.txt', kind: 'edit', status: 'completed' },
  ]);
  expect(frames.at(-2)).toMatchObject({
    response_kind: 'acp.session_update',
    body: { update: { sessionUpdate: 'plan' } },
  });
});

test.each([
  ['yes-too', 'yes-too'],
  ['no', 'no'],
])('a permission question is put to a person, who chooses %s', async (optionId, sent) => {
  const coder = new Coder();
  const { over } = coder.ask('permission');
  await coder.answer({ option_id: optionId });
  expect(textOf(await over)).toBe(`permission {"outcome":{"outcome":"selected","optionId":"${sent}"}}`);
});

test('the policy decides by the kind of tool, with an option that was offered', async () => {
  expect(await new Coder().text('read')).toContain('"optionId":"yes"');
  expect(await new Coder('', { permissions: { execute: 'allow' } }).text('permission')).toContain('"optionId":"yes"');
  expect(await new Coder('', { permissions: { execute: 'deny' } }).text('permission')).toContain('"optionId":"no"');
});

test('a form is put to a person', async () => {
  const coder = new Coder();
  const { over } = coder.ask('form');
  await coder.answer({ content: { name: 'Ada' } });
  expect(textOf(await over)).toBe('{"action":"accept","content":{"name":"Ada"}}');
});

describe('the offer of this machine', () => {
  /** A folder with a file, and links out of it. */
  function workFolder(): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-work-')));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'in'));
    writeFileSync(join(folder, 'in', 'a.txt'), 'one\ntwo\nthree\n');
    writeFileSync(join(folder, 'secret.txt'), 'not yours');
    symlinkSync('../secret.txt', join(folder, 'in', 'link.txt'));
    symlinkSync('..', join(folder, 'in', 'up'));
    symlinkSync('../missing.txt', join(folder, 'in', 'dangling.txt'));
    return join(folder, 'in');
  }
  const ask = async (coder: Coder, method: string, params: object) =>
    JSON.parse(await coder.text(`call ${JSON.stringify({ method, params })}`, { session_id: 's' }));
  const offering = (cwd: string) => new Coder('', { cwd, access: { files: 'local', terminals: 'local' } });

  test('text files below the folder of the session are read and written', async () => {
    const cwd = workFolder();
    const coder = offering(cwd);
    const path = join(cwd, 'a.txt');
    expect(await ask(coder, 'fs/read_text_file', { path })).toEqual({ result: { content: 'one\ntwo\nthree\n' } });
    const some = await ask(coder, 'fs/read_text_file', { path, line: 2, limit: 1 });
    expect(some).toEqual({ result: { content: 'two\n' } });
    expect(await ask(coder, 'fs/write_text_file', { path, content: 'x' })).toEqual({ result: {} });
    expect(await ask(coder, 'fs/write_text_file', { path: join(cwd, 'b.txt'), content: 'new' })).toEqual({
      result: {},
    });
    expect([readFileSync(path, 'utf8'), readFileSync(join(cwd, 'b.txt'), 'utf8')]).toEqual(['x', 'new']);
  });

  test.each(['../secret.txt', 'link.txt', 'up/secret.txt', 'dangling.txt', '/etc/passwd', '.'])(
    'the file %s is refused, and nothing is written',
    async (name) => {
      const cwd = workFolder();
      const coder = offering(cwd);
      const path = name.startsWith('/') ? name : `${cwd}/${name}`;
      const read = await ask(coder, 'fs/read_text_file', { path });
      expect(read.error?.code, JSON.stringify(read)).toBeLessThan(0);
      const written = await ask(coder, 'fs/write_text_file', { path, content: 'mine' });
      expect(written.error?.code, JSON.stringify(written)).toBeLessThan(0);
      expect(readFileSync(join(cwd, '..', 'secret.txt'), 'utf8')).toBe('not yours');
    },
  );

  test('commands run in the folder of the session, and end with the turn', async () => {
    const cwd = workFolder();
    const coder = offering(cwd);
    const report = JSON.parse(await coder.text('terminal', { session_id: 's' }));
    expect(report).toMatchObject({
      output: { output: `${cwd} A`, truncated: false, exitStatus: { exitCode: 3, signal: null } },
      cut: { output: 'xxxx', truncated: true },
      exit: { exitCode: 3, signal: null },
      outside: -32602,
      released: -32002,
    });
    await eventually(() => isAlive(report.pid)).toBe(false);
  });

  test('is empty, and every request is refused', async () => {
    expect(await new Coder().text('file')).toBe('-32601 -32601');
    const onlyFiles = new Coder('', { access: { files: 'local', terminals: 'off' } });
    expect(await ask(onlyFiles, 'terminal/create', { command: 'id' })).toMatchObject({ error: { code: -32601 } });
  });
});

test('a client that vanished without a word is waited for no longer than two minutes', async () => {
  const engineClock = new TestClock();
  const coder = new Coder('', { access: { files: 'caller', terminals: 'off' }, engineClock });
  const content = `call ${JSON.stringify({ method: 'fs/read_text_file', params: { path: '/project/a' } })}`;
  const context = { cwd: '/project', client_capabilities: { fs: { read_text_file: true } } };
  const { frames, over } = coder.ask(content, { channel_context: context });
  await eventually(() => frames.at(-1)?.response_kind).toBe('acp.output_request');
  const asked = frames.length;
  await engineClock.advance(119_999);
  expect(frames.length).toBe(asked);
  await engineClock.advance(1);
  expect(textOf(await over)).toContain('The client did not answer fs/read_text_file within 120 s.');
});

test('a mode is set before the prompt; one that the program does not have is refused', async () => {
  const coder = new Coder('modes');
  const inMode = (mode: string) => coder.ask('mode', { session_id: 's', params: { content: 'mode', mode } }).over;
  expect(textOf(await inMode('plan'))).toBe('plan');
  expect(textOf(await inMode('code'))).toBe('code');
  expect((await inMode('fly')).at(-1)?.body).toMatchObject({
    code: 'E2A.INVALID_MESSAGE',
    message: 'params.mode must be one of plan, code; got "fly"',
  });
});

test("a method of the program's own is called by ext, and no other", async () => {
  const coder = new Coder();
  const ext = async (name: string) =>
    (await coder.ask('', { method: 'ext', ext_method: name, params: { a: 1 } }).over).at(-1)?.body;
  expect(await ext('_status')).toMatchObject({ result: { a: 1, status: 'fine' } });
  expect(await ext('session/list')).toMatchObject({ code: 'E2A.UNKNOWN_METHOD' });
  expect(await ext('_unknown')).toMatchObject({
    code: 'E2A.UNKNOWN_METHOD',
    message: expect.stringContaining('_unknown'),
  });
});

test('the mode of a session is set by ext too, in a program that has modes', async () => {
  const setMode = (coder: Coder, mode: unknown) =>
    coder.ask('', { method: 'ext', ext_method: 'session/set_mode', session_id: 's', params: { mode } as JsonObject })
      .over;
  const coder = new Coder('modes');
  expect((await setMode(coder, 'plan')).at(-1)?.body).toEqual({ result: {} });
  expect(await coder.text('mode', { session_id: 's' })).toBe('plan');
  for (const wrong of ['fly', 7, null]) {
    expect((await setMode(coder, wrong)).at(-1)?.body).toMatchObject({
      message: `params.mode must be one of plan, code; got ${JSON.stringify(wrong)}`,
    });
  }
  expect((await setMode(new Coder(), 'plan')).at(-1)?.body).toMatchObject({ code: 'E2A.UNKNOWN_METHOD' });
});

test('a program that continues after session/cancel is ended, with its request', async () => {
  const clock = new TestClock();
  const coder = new Coder('', { clock });
  const pid = Number((await coder.text('where')).split(' ').at(-1));
  const { requestId, frames, over } = coder.ask('stubborn', { session_id: 's' });
  await eventually(() => textOf(frames)).toBe('started');
  coder.engine.runs.cancel({ owner: 'ada', requestId });
  expect((await over).at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
  expect(isAlive(pid)).toBe(true);
  await eventually(async () => {
    await clock.advance(10_000);
    return isAlive(pid);
  }).toBe(false);
  expect(await coder.text('echo again', { session_id: 's' })).toBe('echo again ');
});

test('a program that answers twice, or what nobody has asked, is read on', async () => {
  const coder = new Coder();
  expect(await coder.text('twice')).toBe('once');
  expect(await coder.text('echo next')).toBe('echo next ');
});

test('a program that gives two callers the same session fails the second one, which sees nothing of the first', async () => {
  const coder = new Coder('same');
  const first = coder.ask('hold', { session_id: 's' });
  await eventually(() => textOf(first.frames)).toBe('started');
  const frames = await coder.ask('echo mine', { session_id: 's' }, { ...ADA, id: 'bob' }).over;
  expect(frames.map(({ body }) => body['message'])).toEqual([
    'session/new returned the sessionId of another open session',
  ]);
  coder.engine.runs.cancel({ owner: 'ada', requestId: first.requestId });
  await first.over;
  expect(await coder.text('echo on', { session_id: 's' })).toBe('echo on ');
});

test('an update for the session of another caller reaches neither caller', async () => {
  const coder = new Coder();
  const bob = { ...ADA, id: 'bob' };
  const where = textOf(await coder.ask('session', { session_id: 's' }, bob).over);
  expect(where).toMatch(/^s-/);
  expect(await coder.text(`leak ${where}`)).toBe('for you');
  expect(textOf(await coder.ask('echo mine', { session_id: 's' }, bob).over)).toBe('echo mine ');
});

test('a program that closes its output and stays is ended', async () => {
  const coder = new Coder();
  const pid = Number((await coder.text('where')).split(' ').at(-1));
  const frames = await coder.ask('silent').over;
  expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.AGENT_ERROR' });
  expect(isAlive(pid)).toBe(false);
});

test('the prompts of a session run one after the other, those of different sessions at once', async () => {
  const coder = new Coder();
  const first = coder.ask('hold', { session_id: 's' });
  await eventually(() => textOf(first.frames)).toBe('started');
  const second = coder.ask('echo second', { session_id: 's' });
  expect(await coder.text('echo other', { session_id: 't' })).toBe('echo other ');
  expect(second.frames).toEqual([]);
  coder.engine.runs.cancel({ owner: 'ada', requestId: first.requestId });
  expect((await first.over).at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
  expect(textOf(await second.over)).toBe('echo second ');
});

test('cancelling withdraws an open permission question, and the session continues', async () => {
  const coder = new Coder();
  const { requestId, over } = coder.ask('permission', { session_id: 's' });
  await eventually(() => coder.engine.questions.openFor(ADA).length).toBe(1);
  coder.engine.runs.cancel({ owner: 'ada', requestId });
  await over;
  expect(coder.engine.questions.openFor(ADA)).toEqual([]);
  expect(await coder.text('echo on', { session_id: 's' })).toBe('echo on ');
});

test('a session is the same one for every prompt, and another for another caller', async () => {
  const coder = new Coder();
  const bob = { ...ADA, id: 'bob' };
  const own = await coder.text('where', { session_id: 's' });
  expect(await coder.text('where', { session_id: 's' })).toBe(own);
  expect(textOf(await coder.ask('where', { session_id: 's' }, bob).over)).not.toBe(own);
});

test.each(['resume', 'load'])(
  'after a restart the session is resumed by session/%s, without the replay',
  async (mode) => {
    const store = memoryStore();
    const first = new Coder(mode, { store });
    await first.text('echo one', { session_id: 's' });
    const key = { owner: 'ada', agentId: 'coder', sessionId: 's' };
    const remoteId = await store.sessions.remote(key);
    expect(remoteId).toMatch(/^s-/);
    await first.stop();
    const frames = await new Coder(mode, { store }).ask('echo two', { session_id: 's', request_id: 'second' }).over;
    expect(textOf(frames)).toBe('echo two ');
    expect(await store.sessions.remote(key)).toBe(remoteId);
  },
);

test('a program that cannot resume a session gets a new one, and the answer reports it', async () => {
  const store = memoryStore();
  const first = new Coder('', { store });
  await first.text('echo one', { session_id: 's' });
  await first.stop();
  const frames = await new Coder('', { store }).ask('echo two', { session_id: 's', request_id: 'second' }).over;
  expect(frames[0]?.body['delta']).toContain('does not remember');
  expect(textOf(frames)).toBe('echo two ');
});

test('it works in a folder of the session, in the configured one, or in one of the workspaces', async () => {
  const own = await new Coder().text('where', { session_id: 's' });
  expect(own).toMatch(/"[^"]+\/acp\/coder\/[0-9a-f]{32}"/);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-work-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'open'));
  mkdirSync(join(folder, 'opening'));
  symlinkSync('/etc', join(folder, 'open', 'link'));
  const options = { cwd: folder, workspaces: [join(folder, 'open')] };
  const at = (cwd: string) => new Coder('', options).text('where', { session_id: 's', channel_context: { cwd } });
  expect(await at(join(folder, 'open'))).toContain(`${folder} "${folder}/open"`);
  for (const outside of ['/etc', join(folder, 'open', 'link'), join(folder, 'opening'), join(folder, 'open', '..')]) {
    expect(await at(outside)).toContain(`${folder} "${folder}"`);
  }
});

test('the folder of a request without a session is removed when the request ends', async () => {
  const coder = new Coder();
  const folder = folderIn(await coder.text('where'));
  expect(folder).toContain('/acp/coder/requests/');
  await eventually(() => existsSync(folder)).toBe(false);
  await coder.ask('', { method: 'ext', ext_method: '_nothing' }).over;
  await eventually(() => readdirSync(join(coder.folder, 'acp', 'coder', 'requests'))).toEqual([]);
});

test('the folder of a session is removed with the session, and a new session of this id starts in an empty one', async () => {
  const coder = new Coder();
  const [own, other] = [
    folderIn(await coder.text('where', { session_id: 's' })),
    folderIn(await coder.text('where', { session_id: 'other' })),
  ];
  const key = { owner: 'ada', agentId: 'coder', sessionId: 's' };
  const before = await coder.store.sessions.remote(key);
  writeFileSync(join(own, 'notes.txt'), 'x');
  await coder.ask('', { method: 'session.delete', params: { session_id: 's' } }).over;
  expect([existsSync(own), existsSync(other)]).toEqual([false, true]);
  expect(folderIn(await coder.text('where', { session_id: 's' }))).toBe(own);
  expect(readdirSync(own)).toEqual([]);
  expect(await coder.store.sessions.remote(key)).not.toBe(before);
});

test('the folder of a session that is in use is kept, and so is that of a request of the last day', async () => {
  const coder = new Coder();
  const running = coder.ask('hold', { session_id: 's' });
  await eventually(() => running.frames.length).toBeGreaterThan(0);
  const requests = join(coder.folder, 'acp', 'coder', 'requests');
  const [late, early] = [join(requests, 'late'), join(requests, 'early')];
  for (const path of [late, early]) mkdirSync(path, { recursive: true });
  utimesSync(early, 0, 0);
  await coder.ask('', { method: 'session.delete', params: { session_id: 's' } }).over;
  const folders = readdirSync(join(coder.folder, 'acp', 'coder'));
  expect([folders.length, existsSync(late), existsSync(early)]).toEqual([2, true, false]);
  await coder.engine.runs.cancel({ owner: 'ada', requestId: running.requestId });
  await eventually(async () => {
    await coder.engine.router.tidy();
    return readdirSync(join(coder.folder, 'acp', 'coder'));
  }).toEqual(['requests']);
});

/** The folder of the session, in the answer to `where`. */
function folderIn(text: string): string {
  return /"([^"]+)"/.exec(text)?.[1] ?? '';
}

test('updates of other sessions, late updates and garbage are dropped', async () => {
  const coder = new Coder();
  expect(await coder.text('foreign')).toBe('for you');
  expect(await coder.text('garbage')).toBe('still here');
  expect(await coder.text('late', { session_id: 's' })).toBe('in time');
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await coder.text('echo next', { session_id: 's' })).toBe('echo next ');
});

test('a flood of updates arrives whole and in order', async () => {
  expect((await new Coder().text('flood')).length).toBe(500_000);
});

test('an error of the program is an error of the agent, with its message', async () => {
  const frames = await new Coder().ask('fail').over;
  expect(frames.at(-1)?.body).toMatchObject({
    code: 'E2A.AGENT_ERROR',
    message: 'model is away',
    external: { protocol: 'acp', payload: { code: -32603, data: { reason: 'quota' } } },
  });
});

test('a refusal is an answer with its stop reason', async () => {
  expect((await new Coder().ask('refuse').over).at(-1)?.body['result']).toEqual({ text: 'no', stop_reason: 'refusal' });
});

test('a program that dies fails its prompts, and is started again', async () => {
  const coder = new Coder();
  const pid = async () => Number((await coder.text('where')).split(' ').at(-1));
  const first = await pid();
  const frames = await coder.ask('die').over;
  expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.AGENT_ERROR', message: expect.stringMatching(/program/) });
  const second = await pid();
  expect(second).not.toBe(first);
  await coder.stop();
  expect(isAlive(second)).toBe(false);
});

test('a message that exceeds the limit is reported in the answers that it may have been part of', async () => {
  const coder = new Coder();
  const other = coder.ask('hold', { session_id: 'other' });
  await eventually(() => textOf(other.frames)).toBe('started');
  const reported = expect.stringContaining('exceeds 8 MiB and was dropped');
  const frames = await coder.ask('oversized').over;
  expect(frames.at(-2)?.body).toEqual({ delta_kind: 'reasoning', delta: reported });
  await eventually(() => other.frames.at(-1)?.body['delta']).toEqual(reported);
  coder.engine.runs.cancel({ owner: 'ada', requestId: other.requestId });
  await other.over;
});

test('a line without end ends the program', async () => {
  const frames = await new Coder().ask('long').over;
  expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.AGENT_ERROR' });
});

test('a program that does not answer initialize, or cannot be started, is a clear error', async () => {
  const mute = await new Coder('mute', { startTimeoutMs: 300 }).ask('echo').over;
  expect(mute.at(-1)?.body['message']).toBe("The agent's program did not answer initialize within 0.3 s.");
  const none = await new Coder('', { command: '/no/such/program' }).ask('echo').over;
  expect(none.at(-1)?.body['message']).toBe("The agent's program could not be started.");
});

test('a program that needs a sign-in fails with the list of sign-in methods', async () => {
  const frames = await new Coder('locked').ask('echo').over;
  expect(frames.at(-1)?.body['message']).toContain('Set auth_method of the agent to one of: api-key.');
});

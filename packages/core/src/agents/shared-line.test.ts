import { accept, isObject, type Json, type JsonObject, reject } from '@dragoman/protocols';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AgentPart } from './agent.ts';
import { agentFailed } from './agent.ts';
import { asking, failureIn, resultIn, TestContext } from './call.contract.ts';
import { SharedLine } from './shared-line.ts';

const MiB = 1024 * 1024;
let context: TestContext;
let sent: JsonObject[];
let sender: { send(envelope: JsonObject): void; unsentBytes: number };
let line: SharedLine;

beforeEach(() => {
  context = new TestContext();
  sent = [];
  sender = { send: (envelope) => sent.push(envelope), unsentBytes: 0 };
  line = newLine();
});

describe('the id of a request', () => {
  test('is sent unchanged once, and with a suffix after that', async () => {
    const first = ask('r1');
    const second = ask('r1');
    const [one, two] = sent.map((envelope) => String(envelope['request_id']));
    expect(one).toBe('r1');
    expect(two).toMatch(/^r1~[0-9a-f]{32}$/);
    say(complete(String(two), 'second'));
    say(complete('r1', 'first'));
    expect([resultIn(await first), resultIn(await second)]).toEqual(['first', 'second']);
  });

  test('is not used again, so that a late frame reaches no other request', async () => {
    const controller = new AbortController();
    const cancelled = parts('r1', controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(cancelled).rejects.toThrow('cancelled');
    const other = ask('r1');
    say(complete('r1', 'for the cancelled request'));
    say(complete(String(sent.at(-1)?.['request_id']), 'for the other'));
    expect(resultIn(await other)).toBe('for the other');
  });

  test('that is a number in the answer is an error of that request', async () => {
    const answer = ask('7');
    say({ ...complete('7', 'yes'), request_id: 7 });
    expect(failureIn(await answer)?.message).toContain('request_id must be');
  });
});

describe('a request that is cancelled', () => {
  test('is reported to the agent', async () => {
    await cancel('r1', 's1');
    expect(sent[1]).toMatchObject({
      method: 'chat.interrupt',
      params: { intent: 'cancel', request_id: 'r1' },
      session_id: 's1',
    });
  });

  test('is not reported while another request uses the same session, which would be stopped too', async () => {
    const other = ask('r2', 's1');
    await cancel('r1', 's1');
    expect(sent.map((envelope) => envelope['method'])).toEqual(['chat.send', 'chat.send']);
    say(complete('r2', 'unharmed'));
    expect(resultIn(await other)).toBe('unharmed');
  });
});

describe('a line that is full', () => {
  test('reports it, and has room again after a read', async () => {
    const reader = line.answer(asking('x'), context.call());
    const first = reader.next();
    for (let sequence = 0; sequence < 4; sequence++) say(chunk('r1', sequence), MiB);
    expect(line.room()).toBeUndefined();
    say(chunk('r1', 4), 1);
    const room = line.room();
    expect(room).toBeInstanceOf(Promise);
    await first;
    await reader.next();
    await reader.next();
    await room;
    expect(line.room()).toBeUndefined();
    expect(context.clock.waiting).toBe(0);
  });

  test('drops an unread answer that blocks others', async () => {
    const stalled = line.answer(asking('x', { request_id: 'stalled' }), context.call());
    const firstFrame = stalled.next();
    say(chunk('stalled', 0));
    await firstFrame;
    const other = ask('other');
    for (let sequence = 1; sequence < 6; sequence++) say(chunk('stalled', sequence), MiB);
    const room = line.room();
    context.clock.pass(30_000);
    await room;
    say(complete('other', 'unharmed'));
    expect(resultIn(await other)).toBe('unharmed');
    const rest: AgentPart[] = [];
    for await (const part of stalled) rest.push(part);
    expect(rest).toHaveLength(1);
    expect(failureIn(rest)?.message).toContain('not read for too long');
  });

  test('waits forever for a reader that does not block others', async () => {
    const reader = line.answer(asking('x'), context.call());
    const first = reader.next();
    for (let sequence = 0; sequence < 6; sequence++) say(chunk('r1', sequence), MiB);
    await first;
    for (let hour = 0; hour < 3; hour++) {
      context.clock.pass(3_600_000);
      await Promise.resolve();
    }
    expect(line.room()).toBeInstanceOf(Promise);
    expect((await reader.next()).value).toMatchObject({ part: 'frame' });
    await reader.return();
    expect(line.room()).toBeUndefined();
  });

  test('has room when it is lost', async () => {
    const answer = line.answer(asking('x'), context.call());
    void answer.next();
    say(chunk('r1', 0), 5 * MiB);
    const room = line.room();
    line.lose(agentFailed('gone'));
    await room;
    await answer.return();
  });
});

describe('a line that is lost', () => {
  test('passes on the frames already received, then ends every answer, and accepts no further requests', async () => {
    const answers = ['a', 'b'].map((id) => ask(id));
    say(chunk('a', 0));
    line.lose(agentFailed('gone'));
    line.lose(agentFailed('gone again'));
    const [a, b] = await Promise.all(answers);
    expect(a?.map((part) => part.part)).toEqual(['frame', 'failure']);
    expect([failureIn(a ?? [])?.message, failureIn(b ?? [])?.message]).toEqual(['gone', 'gone']);
    expect(failureIn(await ask('c'))?.message).toBe('gone');
    expect(sent).toHaveLength(2);
  });
});

test('an agent that reads nothing is not sent anything more', async () => {
  sender.unsentBytes = 17 * MiB;
  expect(failureIn(await ask('r1'))?.message).toBe('The agent does not read its input.');
  expect(sent).toEqual([]);
});

test('a frame that is too long belongs to the only request in flight, and to none of several', async () => {
  const tooLong = reject<Json>({ pointer: '', code: 'line_too_long', message: 'too long' });
  const only = ask('a');
  line.receive(tooLong, { bytes: 0, excerpt: '' });
  expect(failureIn(await only)?.message).toContain('too long');
  const several = ['b', 'c'].map((id) => ask(id));
  line.receive(tooLong, { bytes: 0, excerpt: '' });
  for (const id of ['b', 'c']) say(complete(id, id));
  expect((await Promise.all(several)).map(resultIn)).toEqual(['b', 'c']);
});

test('a frame without a request id is dropped, and the log reports why', async () => {
  const answer = ask('r1');
  const { request_id: _, ...nameless } = complete('r1', 'whose?');
  say(nameless);
  expect(context.logged).toContain('the agent sent a frame without request_id');
  say(complete('r1', 'yours'));
  expect(resultIn(await answer)).toBe('yours');
});

test('a flood of invalid frames is limited in the log', () => {
  const noise = reject<Json>({ pointer: '', code: 'not_json', message: 'no' });
  for (let index = 0; index < 1000; index++) line.receive(noise, { bytes: 5, excerpt: 'noise' });
  expect(context.logged).toHaveLength(20);
  context.clock.pass(1000);
  line.receive(noise, { bytes: 5, excerpt: 'noise' });
  expect(context.log.lines.slice(20)).toMatchObject([{ fields: { agent: 'agent', count: 980 } }, { level: 'warn' }]);
});

function newLine(): SharedLine {
  const { clock, ids, log } = context;
  return new SharedLine({ agentId: 'agent', sender, clock, ids, log });
}

function ask(id: string, session: string | null = `session of ${id}`): Promise<AgentPart[]> {
  return parts(id, new AbortController().signal, session);
}

async function parts(id: string, signal: AbortSignal, session: string | null = null): Promise<AgentPart[]> {
  const found: AgentPart[] = [];
  const envelope = asking('x', { request_id: id, session_id: session });
  for await (const part of line.answer(envelope, context.call(signal))) found.push(part);
  return found;
}

async function cancel(id: string, session: string): Promise<void> {
  const controller = new AbortController();
  const cancelled = parts(id, controller.signal, session);
  controller.abort(new Error('cancelled'));
  await expect(cancelled).rejects.toThrow('cancelled');
}

function say(frame: Json, bytes = 100): void {
  if (!isObject(frame)) throw new Error('a frame is an object');
  line.receive(accept(frame), { bytes, excerpt: '' });
}

function chunk(request_id: string, sequence: number): JsonObject {
  return { request_id, sequence, response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'x' } };
}

function complete(request_id: string, result: Json): JsonObject {
  return { request_id, response_kind: 'e2a.complete', body: { result } };
}

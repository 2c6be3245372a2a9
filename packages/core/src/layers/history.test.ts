import { type E2AResponse, type Json, type JsonObject, newEnvelope } from '@dragoman/protocols';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { moduleAgent } from '../agents/module-agent.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Engine } from '../engine/engine.ts';

let engine: Engine;
let clock: TestClock;
const log = new SilentLog();

beforeEach(() => {
  clock = new TestClock();
  engine = new Engine({ store: memoryStore(), clock, ids: new TestIds(), log, defaultAgent: 'reporter' });
  engine.addAgent(
    moduleAgent('reporter', async function* (envelope, call) {
      const { limit, fail, words } = envelope.params as { limit?: number; fail?: boolean; words?: string[] };
      if (fail === true) throw new Error('no ink');
      if (words !== undefined) {
        for (const word of words) yield word;
        return undefined;
      }
      return { content: 'noted', history: await call.history?.(limit === undefined ? {} : { limit }) };
    }),
  );
});
afterEach(() => engine.stop({ drainMs: 0 }));

const principal = (id: string): Principal => ({ id, kind: 'agent', permissions: ALL_PERMISSIONS });
let requests = 0;

/** Sends a message in a session, and returns the history that the agent received. */
async function sendMessage(
  content: Json,
  { session = 's' as string | null, owner = 'ann', ...params }: JsonObject = {},
) {
  requests += 1;
  const envelope = newEnvelope({
    request_id: `r${requests}`,
    session_id: session as string | null,
    method: 'chat.send',
    params: { content, ...params },
  });
  const call = { principal: principal(String(owner)), signal: new AbortController().signal, log };
  let final: E2AResponse | undefined;
  for await (const frame of engine.handle(envelope, call)) final = frame;
  clock.pass(1000);
  const { history = [] } = (final?.body['result'] ?? {}) as { history?: { role: string; content: Json }[] };
  return history.map(({ role, content: text }) => [role, text]);
}

describe('call.history()', () => {
  test('gives the earlier messages of both sides, oldest first, and not the current one', async () => {
    expect(await sendMessage('one')).toEqual([]);
    expect(await sendMessage('two')).toEqual([
      ['caller', 'one'],
      ['agent', 'noted'],
    ]);
    expect(await sendMessage('three', { limit: 3 })).toEqual([
      ['agent', 'noted'],
      ['caller', 'two'],
      ['agent', 'noted'],
    ]);
    expect(await sendMessage('four', { limit: 0 })).toEqual([]);
  });

  test('gives the requested count, even if it is a fraction or not a number', async () => {
    for (const content of ['one', 'two']) await sendMessage(content);
    expect(await sendMessage('three', { limit: 2.5 })).toEqual([
      ['caller', 'two'],
      ['agent', 'noted'],
    ]);
    expect(await sendMessage('four', { limit: Number.NaN })).toEqual([]);
  });

  test('has eight megabytes at most: a message beyond that, and all older ones, are left out', async () => {
    const megabytes = (count: number) => 'x'.repeat(count * 1024 * 1024);
    const lengths = async (session: string) =>
      (await sendMessage('now', { session })).map(([, text]) => String(text).length);
    for (const count of [1, 3, 4]) await sendMessage(megabytes(count), { session: 'long', words: ['noted'] });
    expect(await lengths('long')).toEqual([3 * 1024 * 1024, 5, 4 * 1024 * 1024, 5]);
    await sendMessage(megabytes(9), { session: 'longest', words: ['noted'] });
    expect(await lengths('longest')).toEqual([]);
  });

  test('limits streamed messages, too', async () => {
    const talkative = moduleAgent('reporter', async function* ({ params }, call) {
      if (params['content'] !== 'go on') return { history: await call.history?.({ limit: 1000 }) };
      yield 'x'.repeat(100_000);
    });
    engine.addAgent(talkative);
    for (let turn = 0; turn < 150; turn += 1) {
      await sendMessage('go on');
      clock.pass(1000);
    }
    // So many recorded answers of 100,000 characters are eight megabytes, with their questions.
    expect(await sendMessage('now')).toHaveLength(2 * 83);
  });

  test('is the caller’s own, of this session and no other', async () => {
    await sendMessage('secret', { owner: 'bob' });
    await sendMessage('elsewhere', { session: 'other' });
    expect(await sendMessage('here')).toEqual([]);
    expect(await sendMessage('nowhere', { session: null })).toEqual([]);
  });

  test('has nothing that was sent after the current message', async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const single = moduleAgent('reporter', async function* ({ params }, call) {
      if (params['content'] === 'one') await held;
      return { content: 'noted', history: await call.history?.() };
    });
    engine.addAgent(single, { maxParallel: 1 });
    const all = ['one', 'two', 'three'].map((content) => sendMessage(content));
    await new Promise(setImmediate);
    goOn();
    const [one, two, three] = await Promise.all(all);
    expect(one).toEqual([]);
    expect(two).toEqual([
      ['caller', 'one'],
      ['agent', 'noted'],
    ]);
    expect(three?.map(([, content]) => content)).toEqual(['one', 'noted', 'two', 'noted']);
  });

  test('has what went wrong, too', async () => {
    await sendMessage('one', { fail: true });
    expect(await sendMessage('two')).toEqual([
      ['caller', 'one'],
      ['agent', expect.objectContaining({ message: 'no ink' })],
    ]);
  });

  test('has the streamed text, where the final frame has none; of a very long answer the beginning', async () => {
    const long = 'x'.repeat(40_000);
    await sendMessage('one', { words: ['well ', 'hello'] });
    await sendMessage('two', { words: [long, long, long] });
    const expected = [
      ['caller', 'one'],
      ['agent', 'well hello'],
      ['caller', 'two'],
      ['agent', `${'x'.repeat(65_536)}…`],
    ];
    expect(await sendMessage('three')).toEqual(expected);
    expect((await lookBackAt('s')).map(({ answer }) => answer).slice(1)).toEqual([expected[3]?.[1], 'well hello']);
  });
});

describe('history.get', () => {
  test('returns every turn of a page, and the beginning of very long ones', async () => {
    const long = 'x'.repeat(3_000_000);
    for (let turn = 1; turn <= 51; turn += 1) {
      await sendMessage(turn % 10 === 0 ? `${turn} ${long}` : `${turn}`, { words: ['noted'] });
    }
    const contents = (await lookBackAt('s')).map(({ params }) => String(params['content']));
    expect(contents.map(Number.parseFloat)).toEqual(Array.from({ length: 50 }, (_, at) => 51 - at));
    const cut = contents.filter((content) => content.endsWith('…'));
    expect(contents.filter((content) => content.length > 3_000_000)).toHaveLength(1);
    expect(cut.length).toBe(4);
    expect(cut.slice(1).every((content) => content.length > 65_000 && content.length <= 65_537)).toBe(true);
    expect(contents.join('').length).toBeLessThan(4.5 * 1024 * 1024);
    const rest = await lookBackAt('s', 2);
    expect(rest.map(({ params, answer }) => [params['content'], answer])).toEqual([['1', 'noted']]);
  });
});

async function lookBackAt(session: string, page = 1) {
  requests += 1;
  const params = { session_id: session, page_idx: page };
  const envelope = newEnvelope({ request_id: `h${requests}`, method: 'history.get', params });
  const call = { principal: principal('ann'), signal: new AbortController().signal, log };
  let final: E2AResponse | undefined;
  for await (const frame of engine.handle(envelope, call)) final = frame;
  const { messages = [] } = (final?.body['result'] ?? {}) as { messages?: { params: JsonObject; answer: Json }[] };
  return messages;
}

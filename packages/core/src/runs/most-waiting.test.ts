import { type E2AEnvelope, type E2AResponse, newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { answering } from '../agents/answering.ts';
import { moduleAgent } from '../agents/module-agent.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { failureOf } from '../refusals/refused.ts';
import { requestRow } from '../store/requests.contract.ts';
import { envelopeRecord } from './envelope-record.ts';
import { RunTable } from './run-table.ts';
import { Runs } from './runs.ts';

// The places to wait for an agent belong to all its callers: one of them has a share, which is 1,000.

const ada: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };
const bob: Principal = { ...ada, id: 'bob' };
const DONE = { is_final: true, body: { result: { content: 'done' } } };

/** An agent that works on one request at a time, and on the first until it is let go. */
function setUp(store = memoryStore()) {
  const [clock, ids, log] = [new TestClock(), new TestIds(), new SilentLog()];
  const table = new RunTable({ clock });
  table.setLimit('agent', 1);
  const runs = new Runs({ store, clock, ids, log, table });
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const agent = moduleAgent('agent', async function* () {
    await held;
    return { content: 'done' };
  });
  const handler = answering(agent, { clock, ids });
  const callOf = (principal: Principal) => ({ principal, signal: new AbortController().signal, log });
  const send = (envelope: E2AEnvelope, principal = ada, idempotencyKey?: string) => {
    const admission = { agentId: 'agent', sessionId: null, priority: 1, expiresAt: null };
    const answer = all(runs.open(envelope, { ...callOf(principal), beside: { idempotencyKey } }, admission, handler));
    // Refused requests are checked later.
    answer.catch(() => {});
    return answer;
  };
  const recover = () => {
    table.recovers(runs.recoverable(() => callOf(ada), handler));
    return table.recover();
  };
  return { runs, store, table, send, recover, letGo };
}

/** The same with one at work, and as many behind it as one caller may have waiting. */
async function crowded({ sent = 1_001 } = {}) {
  const made = setUp();
  const answers = Array.from({ length: sent }, (_, index) => made.send(ask(`r${index}`)));
  await expect.poll(() => made.table.load.request.waiting).toBe(1_000);
  return { ...made, answers };
}

const ask = (requestId: string, content = 'hello') =>
  newEnvelope({ request_id: requestId, method: 'chat.send', params: { content } });

async function all(frames: AsyncIterable<E2AResponse>): Promise<E2AResponse[]> {
  const found: E2AResponse[] = [];
  for await (const frame of frames) found.push(frame);
  return found;
}

test('one more is busy before it is recorded, those of others are taken, and what was taken is answered', async () => {
  const { send, store, letGo, answers } = await crowded();
  const refused = await send(ask('more')).catch(failureOf);
  expect(refused).toMatchObject({ code: 'busy', retryable: true, details: { retry_after: 1 } });
  expect(await store.requests.find({ owner: 'ada', requestId: 'more' })).toBeUndefined();
  const other = send(ask('more'), bob);
  letGo();
  for (const frames of await Promise.all([other, ...answers])) expect(frames.at(-1)).toMatchObject(DONE);
  expect((await send(ask('more'))).at(-1)).toMatchObject(DONE);
});

test('those on their way to the disk count', async () => {
  const { letGo, answers } = await crowded({ sent: 1_010 });
  letGo();
  const settled = await Promise.allSettled(answers);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(9);
});

test('a repeat of what waits gets its answer all the same', async () => {
  const { send, letGo, answers } = await crowded();
  const again = send(ask('r7'));
  await expect(send(ask('r7', 'other'))).rejects.toMatchObject({ failure: { code: 'conflict' } });
  letGo();
  expect(await again).toEqual(await answers[7]);
});

test('so does a repeat by its idempotency key: it gets the same checks as before, and is never busy', async () => {
  const { send, table, letGo } = setUp();
  const first = send(ask('keyed'), ada, 'pay-once');
  const others = Array.from({ length: 1_000 }, (_, index) => send(ask(`r${index}`)));
  await expect.poll(() => table.load.request.waiting).toBe(1_000);
  await expect(send(ask('another id'), ada, 'pay-once')).rejects.toMatchObject({ failure: { code: 'conflict' } });
  await expect(send(ask('another id'), ada, 'another key')).rejects.toMatchObject({ failure: { code: 'busy' } });
  letGo();
  for (const frames of await Promise.all([first, ...others])) expect(frames.at(-1)).toMatchObject(DONE);
});

test('requests accepted before a restart wait, in any number', async () => {
  const store = memoryStore();
  const keys = Array.from({ length: 1_500 }, (_, index) => ({ owner: 'ada', requestId: `r${index}` }));
  for (const key of keys) {
    const envelope = envelopeRecord(ask(key.requestId));
    const rest = {
      agentId: 'agent',
      sessionId: null,
      idempotencyKey: null,
      acceptedAt: 1,
      expiresAt: null,
      priority: 1,
    };
    await store.requests.accept({ ...key, ...rest, envelope, state: 'accepted' });
  }
  const { table, runs, recover, letGo } = setUp(nextProcess(store));
  await recover();
  expect(table.load.request.waiting).toBe(1_499);
  letGo();
  const answers = await Promise.all(keys.map((key) => all(runs.read(key, -1))));
  for (const frames of answers) expect(frames.at(-1)).toMatchObject(DONE);
});

test('a request that another node hands over ends as busy when too many wait here, and else is answered', async () => {
  const { runs, store, recover, answers, letGo } = await crowded();
  await recover();
  const handOver = async (requestId: string, owner: Principal) => {
    const envelope = envelopeRecord(ask(requestId));
    const row = requestRow({ owner: owner.id, requestId, agentId: 'agent', envelope });
    const accepted = await store.requests.accept(row);
    if (!('held' in accepted) || accepted.held === null) throw new Error('it was there before');
    await runs.takeHandedOver({ row, held: accepted.held });
    return all(runs.read(row, -1));
  };
  expect((await handOver('one-too-many', ada)).at(-1)).toMatchObject({ is_final: true, body: { code: 'E2A.BUSY' } });
  letGo();
  await Promise.all(answers);
  expect((await handOver('later', ada)).at(-1)).toMatchObject(DONE);
});

import { newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { moduleAgent } from '../agents/module-agent.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { Engine } from '../engine/engine.ts';

/** The record of a request with this hint. */
async function priorityWith(hint: string): Promise<unknown> {
  const store = memoryStore();
  const log = new SilentLog();
  const engine = new Engine({ store, clock: new TestClock(), ids: new TestIds(), log });
  const agent = moduleAgent('echo', async function* () {
    yield 'received';
  });
  engine.addAgent(agent);
  const envelope = newEnvelope({
    request_id: 'r1',
    method: 'chat.send',
    agent_ref: { id: 'echo' },
    channel_context: { priority: hint },
  });
  const principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  const frames = engine.handle(envelope, { principal, signal: new AbortController().signal, log });
  for await (const frame of frames) if (frame.is_final) break;
  return (await store.requests.find({ owner: 'ada', requestId: 'r1' }))?.priority;
}

test.each([
  ['urgent', 0],
  ['normal', 1],
  ['low', 2],
])('%s is recorded as %i', async (hint, priority) => {
  expect(await priorityWith(hint)).toBe(priority);
});

test.each(['constructor', 'toString', '__proto__', 'at once'])(
  '%s is not a priority, and recorded as the default one',
  async (hint) => {
    expect(await priorityWith(hint)).toBe(1);
  },
);

import { Engine, refuse } from '@dragoman/core';
import { parseJsonBytes } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore } from '../../../core/test-support/memory-store.ts';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { TestIds } from '../../../core/test-support/test-ids.ts';
import type { InboundRequest } from '../http/route.ts';
import { adminAgentRoutes } from './admin-agents.ts';

test('two concurrent requests for the same agent create it once, with one key', async () => {
  const { post, engine } = administration();
  const answers = await Promise.all([post(DESK), post(DESK), post(DESK)]);
  expect(answers.map((answer) => 'status' in answer && answer.status)).toEqual([201, 200, 200]);
  expect(await engine.keys.list()).toHaveLength(1);
});

test('an agent that could not be recorded does not answer, and is created with a key by the next try', async () => {
  const { post, engine, done, fill } = administration();
  fill(true);
  await expect(post(DESK)).rejects.toMatchObject({ failure: { code: 'store_unavailable' } });
  expect(done).toEqual(['opened', 'closed']);
  expect(engine.callers.find('desk')).toBeUndefined();
  fill(false);
  const answer = await post(DESK);
  expect(answer).toMatchObject({ status: 201, json: { api_key: expect.any(String) } });
  expect(done).toEqual(['opened', 'closed', 'opened', 'placed']);
  expect((await engine.keys.list()).filter((key) => key.revokedAt === null)).toHaveLength(1);
});

test('an agent that could not be replaced continues to answer', async () => {
  const { post, done, fill } = administration();
  await post(DESK);
  fill(true);
  await expect(post(DESK)).rejects.toMatchObject({ failure: { code: 'store_unavailable' } });
  expect(done).toEqual(['opened', 'placed', 'opened', 'closed']);
});

const DESK = { agent_id: 'desk', permissions: {}, driver: 'http', url: 'http://127.0.0.1:1/' };

/** Administration over a store whose disk can be full. */
function administration() {
  const [store, clock, ids, log] = [memoryStore(), new TestClock(), new TestIds(), new SilentLog()];
  let isFull = false;
  const { agents } = store;
  const put = agents.put.bind(agents);
  agents.put = async (row) => {
    if (isFull) refuse('store_unavailable');
    await put(row);
  };
  const engine = new Engine({ store, clock, ids, log });
  const done: string[] = [];
  const routes = adminAgentRoutes({
    engine,
    openAgent: async () => {
      done.push('opened');
      return { place: () => void done.push('placed'), close: async () => void done.push('closed') };
    },
    inTurn: (_, change) => change(),
    configured: { has: () => false, putBack: async () => {} },
    callbackSecrets: { shownSecretOf: async () => 'whsec', forget: async () => {} },
    registrations: { forget: async () => 0, registered: () => [] },
  });
  const route = routes.find(({ method, path }) => method === 'POST' && path === '/admin/v1/agents');
  const post = async (definition: object) => {
    if (route === undefined) expect.unreachable('the route is gone');
    const body = Buffer.from(JSON.stringify(definition));
    const request: Partial<InboundRequest> = { params: {}, body, readJson: () => parseJsonBytes(body) };
    return route.handle(request as InboundRequest);
  };
  const fill = (full: boolean) => {
    isFull = full;
  };
  return { engine, done, post, fill };
}

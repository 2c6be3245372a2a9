import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CountingApi, send } from './counting-api.ts';
import { System } from './system.ts';
import { fresh, WorkflowCaller, workflowOf } from './workflow-caller.ts';

const api = await CountingApi.start();
const system = await System.start({
  config: { apis: { counting: { base_url: api.url } }, gate: { allow: [api.host] }, workflows: { cache_seconds: 0 } },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const { api_key: key } = await system.caller('ann-agent', {
  permissions: { operations: ['*'], apis: ['*'], credentials: ['*'] },
});
const ann = new WorkflowCaller(system, key);

/** The call at which an execution is held, so that all of them can be killed where they are. */
const holds = new Map<string, string>();
const held = new Set<string>();

beforeEach(() => {
  api.requests.length = 0;
  holds.clear();
  held.clear();
});

const CALLS = ['GET /first', 'POST /charge', 'PUT /state', 'POST /keyed', 'DELETE /old', 'GET /last'];
for (const [index, name] of CALLS.entries()) {
  api.behaviours.set(name, ({ headers }, response) => {
    const id = String(headers['x-execution']);
    // The same call gives another answer each time: what was computed from the first must stay.
    if (holds.get(id) !== name) send(response, 200, { call: index, time: api.requests.length });
    else held.add(id);
  });
}

const call = (name: string, id: string, more: JsonObject = {}) => {
  const [method = '', path = ''] = name.split(' ');
  const headers = { 'X-Execution': id };
  return { ApiCall: { method, url: `${api.url}${path}`, headers, outputPath: `/workflow${path}`, ...more } };
};

/** Every kind of effect, each made from the result before it. */
function everyEffect(id: string): string {
  return workflowOf(
    {
      first: call('GET /first', id),
      charge: call('POST /charge', id, { body: { after: { path: '/workflow/first' } } }),
      now: { GetCurrentDateTime: { outputPath: '/workflow/now' } },
      keep: { StoreData: { inputPath: '/workflow/charge', storage: 'localStorage', key: 'charge' } },
      file: { StoreData: { inputPath: '/workflow/first', storage: 'file', key: 'first' } },
      wait: { Wait: { duration: 60 } },
      state: call('PUT /state', id, { body: { now: { path: '/workflow/now' }, charge: { path: '/workflow/charge' } } }),
      keyed: call('POST /keyed', id, { body: { state: { path: '/workflow/state' } }, idempotencyKey: `key-${id}` }),
      old: call('DELETE /old', id),
      last: call('GET /last', id),
    },
    { id },
  );
}

async function begin(workflow: string): Promise<void> {
  const answer = await ann.post('execute', { workflow }, { headers: { prefer: 'respond-async' } });
  expect(answer.status).toBe(202);
}

function requestsOf(id: string, path: string) {
  return api.requests.filter((one) => one.path === path && one.headers['x-execution'] === id);
}

describe('kill -9', () => {
  test('at every call of a workflow: each continues, and no effect is repeated', async () => {
    const ids = new Map(CALLS.map((name) => [name, fresh()]));
    for (const [name, id] of ids) holds.set(id, name);
    for (const id of ids.values()) await begin(everyEffect(id));
    await expect.poll(() => held.size, { timeout: 20_000, interval: 5 }).toBe(CALLS.length);
    await system.kill();
    holds.clear();
    await system.start();
    for (const [name, id] of ids) {
      const result = await ann.ended(id);
      expect(requestsOf(id, '/charge'), name).toHaveLength(1);
      for (const path of ['/state', '/keyed']) {
        // A repeated request has the same content.
        expect(new Set(requestsOf(id, path).map(({ body }) => body)).size, name).toBeLessThanOrEqual(1);
      }
      for (const { headers } of requestsOf(id, '/keyed')) expect(headers['idempotency-key']).toBe(`key-${id}`);
      if (name === 'POST /charge') {
        expect(result).toMatchObject({
          status: 'partial_success',
          error: { type: 'ExecutionError', operationId: 'charge', details: { outcome: 'unknown' } },
        });
        expect(requestsOf(id, '/state')).toHaveLength(0);
      } else {
        expect(result, name).toMatchObject({ status: 'success' });
        expect(Object.keys(result.results)).toHaveLength(10);
        expect(requestsOf(id, '/last').length).toBe(name === 'GET /last' ? 2 : 1);
      }
      // On a repeat, the record answers.
      const count = api.requests.length;
      expect(await ann.execute(everyEffect(id))).toMatchObject({ ...result, replayed: true });
      expect(api.requests.length).toBe(count);
    }
  });

  test('during a Wait: it ends when it would have, and not later', async () => {
    const id = fresh();
    await begin(workflowOf({ wait: { Wait: { duration: 1500 } }, last: call('GET /last', id) }, { id }));
    const began = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await system.kill();
    await system.start();
    const result = await ann.ended(id);
    expect(result.status).toBe('success');
    expect(result.duration_ms).toBeGreaterThanOrEqual(1500);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(api.count('GET /last')).toBe(1);
  });

  test('after a long answer: it is read from the record, as it was', async () => {
    const id = fresh();
    const rows = Array.from({ length: 30_000 }, (_, index) => ({ name: `é ${index}`, time: index }));
    api.answers('GET /long', rows);
    holds.set(id, 'PUT /state');
    const workflow = { long: call('GET /long', id), state: call('PUT /state', id), last: call('GET /last', id) };
    await begin(workflowOf(workflow, { id }));
    await expect.poll(() => held.has(id)).toBe(true);
    holds.clear();
    await system.kill();
    await system.start();
    const { status, results } = await ann.ended(id);
    expect(status).toBe('success');
    expect(results['long']).toEqual(rows);
    expect(api.count('GET /long')).toBe(1);
  });

  test('under load: whatever was accepted ends, and nothing is charged twice', async () => {
    const ids = Array.from({ length: 40 }, fresh);
    const accepted: string[] = [];
    const load = Promise.all(
      ids.map(async (id) => {
        const charge = call('POST /charge', id, { body: { id } });
        const workflow = workflowOf({ first: call('GET /first', id), charge, last: call('GET /last', id) }, { id });
        const answer = await ann
          .post('execute', { workflow }, { headers: { prefer: 'respond-async' } })
          .catch(() => undefined);
        if (answer?.status === 202) accepted.push(id);
      }),
    );
    await expect.poll(() => api.count('POST /charge'), { timeout: 20_000, interval: 2 }).toBeGreaterThan(3);
    await system.kill();
    await load;
    await system.start();
    expect(accepted.length).toBeGreaterThan(0);
    for (const id of accepted) {
      const result = await ann.ended(id);
      expect(['success', 'partial_success'], JSON.stringify(result)).toContain(result.status);
    }
    const charged = api.requests.filter(({ path }) => path === '/charge').map(({ body }) => body);
    expect(new Set(charged).size).toBe(charged.length);
  });

  test('SIGTERM lets running calls finish for a while; the rest continues after the next start', async () => {
    const [short, long] = [fresh(), fresh()];
    await begin(workflowOf({ wait: { Wait: { duration: 200 } } }, { id: short }));
    await begin(workflowOf({ wait: { Wait: { duration: 4000 } }, last: call('GET /last', long) }, { id: long }));
    await system.kill();
    await system.start({ DRAGOMAN_TEST_DRAIN_MS: '500' });
    await system.stop();
    await system.start();
    expect((await ann.get(`executions/${short}`)).json).toMatchObject({ status: 'success' });
    expect(await ann.ended(long)).toMatchObject({ status: 'success' });
    expect(api.count('GET /last')).toBe(1);
  });

  test('a cursor of the list is good after a restart', async () => {
    for (const id of [fresh(), fresh()]) await ann.execute(workflowOf({ wait: { Wait: { duration: 1 } } }, { id }));
    const { next_cursor: cursor } = (await ann.get('executions?limit=1')).json as { next_cursor: string };
    const rest = (await ann.get(`executions?limit=1&cursor=${cursor}`)).json;
    await system.kill();
    await system.start();
    const after = await ann.get(`executions?limit=1&cursor=${cursor}`);
    expect([after.status, after.json['executions']]).toEqual([200, rest['executions']]);
  });
});

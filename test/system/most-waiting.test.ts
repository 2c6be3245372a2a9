import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call, type HttpAnswer } from './call.ts';
import { agentModule, System } from './system.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

const system = await System.start({
  config: {
    default_agent: 'held',
    agents: { held: { driver: 'module', module: agentModule('held'), max_parallel: 1 } },
    workflows: { max_parallel: 1 },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

test('one caller fills only its share of the requests that wait for an agent: it gets Retry-After, others are served', async () => {
  const [ada, bob] = [await system.caller('ada-agent'), await system.caller('bob-agent')];
  const send = (key: string, request_id: string, params: JsonObject = { content: 'x' }): Promise<HttpAnswer> =>
    call(system.url, { method: 'POST', path: '/e2a', key, json: { request_id, method: 'chat.send', params } });
  const isAccepted = async (key: string, requestId: string) => {
    const accept = 'application/x-ndjson';
    const answer = await call(system.url, { path: `/e2a/requests/${requestId}/responses`, key, accept });
    answer.destroy();
    return answer.status === 200;
  };

  const first = send(ada.api_key, 'first', {});
  await expect.poll(() => isAccepted(ada.api_key, 'first')).toBe(true);
  const mine = Array.from({ length: 1_005 }, (_, index) => send(ada.api_key, `mine-${index}`));
  // While the agent is held, only those that are refused are answered.
  let answered = 0;
  for (const answer of mine) answer.then(() => answered++).catch(() => {});
  await expect.poll(() => answered, { timeout: 10_000 }).toBe(5);
  const other = send(bob.api_key, 'other');
  await expect.poll(() => isAccepted(bob.api_key, 'other')).toBe(true);

  await call(system.url, { method: 'POST', path: '/e2a/requests/first/cancel', key: ada.api_key });
  expect((await other).status).toBe(200);
  expect((await first).status).toBe(200);
  const answers = await Promise.all(mine);
  const busy = answers.filter(({ status }) => status === 503);
  expect([busy.length, answers.filter(({ status }) => status === 200).length]).toEqual([5, 1_000]);
  expect(busy[0]?.headers['retry-after']).toBe('1');
  expect(await busy[0]?.json()).toMatchObject({ code: 'busy' });
});

test('the same holds for executions; one that was accepted runs, and a repeat of it is answered, however many wait', async () => {
  const [cat, dan] = [await workflowCaller('cat-agent'), await workflowCaller('dan-agent')];
  const prefer = { headers: { Prefer: 'respond-async' } };
  const hold = workflowOf({ hold: { Wait: { duration: 60_000 } } }, { id: 'hold' });
  expect((await cat.post('execute', { workflow: hold, timeout_ms: 90_000 }, prefer)).status).toBe(202);

  const wait = (id: string) => workflowOf({ pass: { Wait: { duration: 0 } } }, { id });
  const read = workflowOf({ now: { GetCurrentDateTime: { outputPath: '/workflow/now' } } }, { id: 'only-reads' });
  const mine = await Promise.all(
    Array.from({ length: 1_005 }, (_, index) => cat.post('execute', { workflow: wait(`mine-${index}`) }, prefer)),
  );
  const accepted = mine.flatMap(({ status }, index) => (status === 202 ? [index] : []));
  expect(accepted).toHaveLength(1_000);
  const busy = await cat.post('execute', { workflow: read });
  expect([busy.status, busy.headers['retry-after']]).toEqual([503, '1']);
  expect(await busy.json()).toMatchObject({ error: { message: 'Too many executions wait for their turn.' } });
  expect((await cat.get('executions/only-reads')).status).toBe(404);
  const repeat = await cat.post('execute', { workflow: wait(`mine-${accepted[7]}`) }, prefer);
  expect(repeat.status).toBe(202);
  const other = dan.execute(read);

  await cat.call({ method: 'POST', path: '/api/v1/executions/hold/cancel' });
  expect(await other).toMatchObject({ status: 'success' });
  await expect
    .poll(async () => (await cat.get('executions?status=running')).json['count'], { timeout: 20_000 })
    .toBe(0);
  const ended = await Promise.all(accepted.map(async (index) => (await cat.get(`executions/mine-${index}`)).json));
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['success']));
});

async function workflowCaller(id: string): Promise<WorkflowCaller> {
  return new WorkflowCaller(system, (await system.caller(id, { permissions: { operations: ['*'] } })).api_key);
}

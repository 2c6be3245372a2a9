import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CountingApi, send } from './counting-api.ts';
import { System } from './system.ts';
import { fresh, WorkflowCaller, workflowOf } from './workflow-caller.ts';

const api = await CountingApi.start();
const system = await System.start({
  config: {
    apis: { users: { base_url: api.url }, admin: { base_url: `${api.url}/admin` } },
    gate: { allow: [api.host] },
    workflows: { cache_seconds: 60 },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const EVERYTHING = { permissions: { operations: ['*'], apis: ['*'], credentials: ['*'] } };
const ann = new WorkflowCaller(system, (await system.caller('ann-agent', EVERYTHING)).api_key);
const bob = new WorkflowCaller(system, (await system.caller('bob-agent', EVERYTHING)).api_key);

const USERS = [
  { name: 'Ada', points: 120, status: 'active' },
  { name: 'Ben', points: 80, status: 'active' },
  { name: 'Cid', points: 300, status: 'gone' },
  { name: 'Dan', points: 200, status: 'active' },
];
api.answers('GET /users', USERS);
api.answers('GET /data', { value: 1 });
api.answers('POST /orders', { id: 7 });
api.answers('GET /count', 2);

const fetchUsers = { ApiCall: { method: 'GET', url: `${api.url}/users`, outputPath: '/workflow/users' } };
const filterActive = {
  FilterData: {
    inputPath: '/workflow/users',
    conditions: [{ field: 'status', operator: '==', value: 'active' }],
    outputPath: '/workflow/active-users',
  },
};
const ACTIVE = USERS.filter(({ status }) => status === 'active');

describe('a result that is long', () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => ({ name: `é ${index}`, points: index, status: 'active' }));
  api.answers('GET /many', rows);
  const long = () =>
    workflowOf({
      'fetch-users': { ApiCall: { method: 'GET', url: `${api.url}/many`, outputPath: '/workflow/users' } },
      'filter-active': filterActive,
    });

  test('is answered whole and with its length, as it is read later', async () => {
    const answer = await ann.post('execute', { workflow: long() });
    const text = await answer.text();
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(text)));
    const result = JSON.parse(text);
    expect(result).toMatchObject({ status: 'success', results: { 'fetch-users': rows, 'filter-active': rows } });
    const kept = await ann.get(`executions/${result.execution_id}`);
    expect(kept).toEqual({ status: 200, json: result });
  });

  test('is the last event for its readers, and its operations are reported as successful', async () => {
    const answer = await ann.post('execute', { workflow: long() }, { headers: { accept: 'text/event-stream' } });
    const text = await answer.text();
    expect(text.match(/"status":"\w+"/g)?.slice(0, 2)).toEqual(['"status":"success"', '"status":"success"']);
    const last = text.split('\n').findLast((line) => line.startsWith('data: ')) ?? '';
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({
      event: 'execution-finished',
      result: { status: 'success', results: { 'filter-active': rows } },
    });
  });
});

describe('the examples of the spec', () => {
  test('example 1: one API call', async () => {
    const call = { ApiCall: { method: 'GET', url: `${api.url}/data`, outputPath: '/workflow/data' } };
    const result = await ann.execute(workflowOf({ 'fetch-data': call }, { id: 'exec-one' }));
    expect(result).toMatchObject({
      execution_id: 'exec-one',
      status: 'success',
      results: { 'fetch-data': { value: 1 } },
    });
    expect(result.duration_ms).toBeGreaterThanOrEqual(0);
  });

  test('example 2: an API call and a filter', async () => {
    const workflow = workflowOf({ 'fetch-users': fetchUsers, 'filter-active': filterActive });
    expect(await ann.validate(workflow)).toMatchObject({ valid: true, errors: [] });
    const result = await ann.execute(workflow);
    expect(result).toMatchObject({ status: 'success', results: { 'fetch-users': USERS, 'filter-active': ACTIVE } });
    const kept = await ann.get(`executions/${result.execution_id}`);
    expect(kept).toEqual({ status: 200, json: result });
    expect(result.started_at).toMatch(/^\d{4}-.*Z$/);
    expect(result.completed_at).toMatch(/^\d{4}-.*Z$/);
  });

  test('example 3, whose branches are not defined, is refused by name; with them it runs the one branch', async () => {
    const check = { ApiCall: { method: 'GET', url: `${api.url}/count`, outputPath: '/workflow/count' } };
    const decide = {
      Conditional: {
        condition: { path: '/workflow/count', operator: '>', value: 0 },
        ifTrue: ['process-data'],
        ifFalse: ['skip'],
      },
    };
    const order = ['check-count', 'process-if-needed'];
    const bare = workflowOf({ 'check-count': check, 'process-if-needed': decide }, { order });
    const report = await ann.validate(bare);
    expect(report.valid).toBe(false);
    expect(JSON.stringify(report.errors)).toContain('process-data');
    const refused = await ann.post('execute', { workflow: bare });
    expect(refused.status).toBe(400);
    const body = (await refused.json()) as { error: JsonObject };
    expect(body.error).toMatchObject({ type: 'ValidationError', message: expect.stringContaining('process-data') });
    const whole = workflowOf(
      {
        'check-count': check,
        'process-if-needed': decide,
        'process-data': { Wait: { duration: 1 } },
        skip: { Wait: { duration: 1 } },
      },
      { order },
    );
    const result = await ann.execute(whole);
    expect(result.status).toBe('success');
    expect(result.skipped).toEqual(['skip']);
  });

  test('the lines themselves are taken too, with options in the query', async () => {
    const workflow = workflowOf({ 'fetch-users': fetchUsers });
    for (const type of ['application/jsonl', 'application/x-ndjson']) {
      const answer = await ann.call({
        method: 'POST',
        path: '/api/v1/workflows/execute?onError=continue&level=strict&timeout_ms=5000',
        text: workflow.replace(/exec-\d+/, fresh()),
        headers: { 'content-type': type },
      });
      expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'success' }]);
    }
    const wrong = await ann.call({
      method: 'POST',
      path: '/api/v1/workflows/validate?level=harsh',
      text: workflow,
      headers: { 'content-type': 'application/jsonl' },
    });
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('level');
  });
});

describe('what runs is what was checked', () => {
  test('a plan reports what would happen, and has no effects', async () => {
    const before = api.requests.length;
    const answer = await ann.post('plan', {
      workflow: workflowOf({ 'fetch-users': fetchUsers, filter: filterActive }),
    });
    const plan = (await answer.json()) as JsonObject;
    expect(plan['steps']).toMatchObject([
      { operationId: 'fetch-users', type: 'ApiCall', calls: { method: 'GET', path: '/users' } },
      { operationId: 'filter', type: 'FilterData' },
    ]);
    expect(plan['estimate']).toMatchObject({ steps: 2, api_calls: 1 });
    expect(api.requests.length).toBe(before);
  });

  test.each([
    ['no body at all', '', 400],
    ['no JSON', '{"workflow":', 400],
    ['no workflow', '{}', 400],
    ['a workflow that is neither lines nor an array of them', '{"workflow":{}}', 400],
    ['an unknown level', '{"workflow":"{}","level":"harsh"}', 400],
  ])('%s is refused in the words of the spec', async (_, text, status) => {
    for (const name of ['validate', 'plan', 'execute']) {
      const headers = { 'content-type': 'application/json' };
      const answer = await ann.call({ method: 'POST', path: `/api/v1/workflows/${name}`, text, headers });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ error: { type: 'ValidationError', message: expect.any(String) } });
    }
  });

  test('lines that are wrong are a report of validate and a ValidationError of execute', async () => {
    const report = await ann.validate('{"type":"operationUpdate"}');
    expect(report).toMatchObject({ valid: false, summary: { errors: report.errors.length } });
    expect((await ann.post('execute', { workflow: '{"type":"operationUpdate"}' })).status).toBe(400);
  });

  test.each(['strict', 'moderate', 'lenient'])(
    'the result of validate at the level %s is what execute enforces, for every kind of finding',
    async (level) => {
      const wait = { Wait: { duration: 0 } };
      const ask = { Conditional: { condition: { path: '/store/never', operator: 'exists' }, ifTrue: ['b'] } };
      const workflows = [
        workflowOf({ a: wait }),
        // Each more harmless than the one before.
        workflowOf({ a: filterActive }),
        workflowOf({ a: wait }, { order: ['a', 'a'] }),
        workflowOf({ a: ask, b: wait }, { order: ['a', 'b'] }),
      ];
      for (const workflow of workflows) {
        const report = (await (await ann.post('validate', { workflow, level })).json()) as JsonObject;
        const { status } = await ann.post('execute', { workflow, level });
        expect([report['valid'], status]).toEqual(status === 200 ? [true, 200] : [false, 400]);
      }
    },
  );

  test('no option turns the checks off', async () => {
    const answer = await ann.post('execute', { workflow: workflowOf({ a: filterActive }), validate: false });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'ValidationError' } });
  });
});

describe('permissions', () => {
  test('an empty list allows nothing, by validate and by execute alike', async () => {
    const nobody = new WorkflowCaller(system, (await system.caller('nobody-agent', { permissions: {} })).api_key);
    const workflow = workflowOf({ 'fetch-users': fetchUsers });
    expect((await nobody.validate(workflow)).valid).toBe(false);
    const answer = await nobody.post('execute', { workflow });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { type: 'PermissionError', operationId: 'fetch-users' } });
  });

  test('an agent reaches the APIs it may use, and no path of data leads out of them', async () => {
    const permissions = { operations: ['*'], apis: ['admin'] };
    const some = new WorkflowCaller(system, (await system.caller('some-agent', { permissions })).api_key);
    expect((await some.post('execute', { workflow: workflowOf({ 'fetch-users': fetchUsers }) })).status).toBe(403);
    api.answers('GET /admin/name', '../users');
    const climb = workflowOf({
      name: { ApiCall: { method: 'GET', url: `${api.url}/admin/name`, outputPath: '/workflow/name' } },
      climb: { ApiCall: { method: 'GET', url: `${api.url}/admin/{/workflow/name}`, outputPath: '/workflow/x' } },
    });
    const before = api.count('GET /users');
    const result = await some.execute(climb);
    expect(result.status).toBe('partial_success');
    expect(api.count('GET /users')).toBe(before);
  });
});

describe('executions belong to their callers', () => {
  test("the same id of two agents is two executions; another's looks like none", async () => {
    const id = fresh();
    const mine = await ann.execute(workflowOf({ a: fetchUsers }, { id }));
    expect((await bob.get(`executions/${id}`)).status).toBe(404);
    const absent = await bob.get('executions/never-was');
    expect(await bob.get(`executions/${id}`)).toEqual(absent);
    const theirs = await bob.execute(workflowOf({ other: fetchUsers }, { id }));
    expect(Object.keys(theirs.results)).toEqual(['other']);
    expect((await ann.get(`executions/${id}`)).json).toEqual(mine);
  });

  test('the same id of two agents at the same time is two executions, and each ends its own', async () => {
    const id = fresh();
    const begin = (agent: WorkflowCaller, name: string) =>
      agent.post(
        'execute',
        { workflow: workflowOf({ wait: { Wait: { duration: 20_000 } }, [name]: fetchUsers }, { id }) },
        { headers: { prefer: 'respond-async' } },
      );
    const cancel = async (agent: WorkflowCaller) =>
      (await agent.call({ method: 'POST', path: `/api/v1/executions/${id}/cancel` })).json();
    const started = await Promise.all([begin(ann, 'anns'), begin(bob, 'bobs')]);
    expect(started.map(({ status }) => status)).toEqual([202, 202]);
    expect(await cancel(bob)).toEqual({ execution_id: id, cancelled: true, status: 'cancelled' });
    expect((await ann.get(`executions/${id}`)).json).toMatchObject({ status: 'running' });
    expect(await cancel(ann)).toEqual({ execution_id: id, cancelled: true, status: 'cancelled' });
    expect((await ann.get(`executions/${id}`)).json).toMatchObject({ skipped: ['anns'] });
    expect((await bob.get(`executions/${id}`)).json).toMatchObject({ skipped: ['bobs'] });
  });

  test('the same id with the same plan is the stored result, with another plan a conflict', async () => {
    const id = fresh();
    const order = { ApiCall: { method: 'POST', url: `${api.url}/orders`, body: { n: 1 }, outputPath: '/workflow/o' } };
    const first = await ann.execute(workflowOf({ order }, { id }));
    const count = api.count('POST /orders');
    expect(await ann.execute(workflowOf({ order }, { id }))).toEqual({
      ...first,
      replayed: true,
      first_run_at: first.started_at,
    });
    expect(api.count('POST /orders')).toBe(count);
    const other = await ann.post('execute', { workflow: workflowOf({ fetch: fetchUsers }, { id }) });
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ error: { details: { code: 'conflict' } } });
  });

  test('an idempotency key is a second name', async () => {
    const order = { ApiCall: { method: 'POST', url: `${api.url}/orders`, body: { n: 2 }, outputPath: '/workflow/o' } };
    const count = api.count('POST /orders');
    const send = () =>
      ann.post('execute', { workflow: workflowOf({ order }) }, { headers: { 'idempotency-key': 'pay-once' } });
    const [one, two] = [await (await send()).json(), await (await send()).json()] as JsonObject[];
    expect(two).toEqual({ ...one, replayed: true, first_run_at: one?.['started_at'] });
    expect(api.count('POST /orders')).toBe(count + 1);
  });

  test('many that ask the same at once run it once', async () => {
    const id = fresh();
    const order = { ApiCall: { method: 'POST', url: `${api.url}/orders`, body: { n: 3 }, outputPath: '/workflow/o' } };
    const count = api.count('POST /orders');
    const results = await Promise.all(Array.from({ length: 10 }, () => ann.execute(workflowOf({ order }, { id }))));
    const recorded = results.map(({ replayed: _, first_run_at: __, ...result }) => JSON.stringify(result));
    expect(new Set(recorded).size).toBe(1);
    expect(results.filter(({ replayed }) => replayed !== true)).toHaveLength(1);
    expect(api.count('POST /orders')).toBe(count + 1);
  });

  test('the list is paged, newest first, and a cursor never shows the executions of another agent', async () => {
    const first = (await ann.get('executions?limit=2')).json as { executions: JsonObject[]; next_cursor: string };
    expect(first.executions).toHaveLength(2);
    const second = (await ann.get(`executions?limit=2&cursor=${first.next_cursor}`)).json as typeof first;
    const ids = [...first.executions, ...second.executions].map(({ execution_id }) => execution_id);
    expect(new Set(ids).size).toBe(4);
    await ann.execute(workflowOf({ a: fetchUsers }, { id: 'anns-own' }));
    await bob.execute(workflowOf({ a: fetchUsers }, { id: 'bobs-own' }));
    const largest = Number.MAX_SAFE_INTEGER;
    for (const cursor of [first.next_cursor, largest]) {
      const page = (await bob.get(`executions?limit=1000&cursor=${cursor}`)).json as typeof first;
      const known = page.executions.map(({ execution_id }) => execution_id);
      expect(known).not.toContain('anns-own');
      expect(known.includes('bobs-own')).toBe(cursor === largest);
    }
    for (const odd of ['x', '0', '-1', '1e3', `${first.next_cursor}x`, `${largest}0`]) {
      expect((await ann.get(`executions?cursor=${odd}`)).status, odd).toBe(400);
    }
    const cancelled = (await ann.get('executions?status=cancelled')).json;
    expect(cancelled).toMatchObject({ executions: [{ status: 'cancelled' }], count: 1, next_cursor: null });
    const late = (await ann.get('executions?status=timeout')).json;
    expect(late).toMatchObject({ executions: [], count: 0, next_cursor: null });
    expect((await ann.get('executions?status=done')).status).toBe(400);
    for (const limit of ['0', '1001', '1e2', '', 'ten']) {
      const refused = await ann.get(`executions?limit=${limit}`);
      expect([refused.status, JSON.stringify(refused.json)], limit).toEqual([
        400,
        expect.stringContaining('limit must be a whole number from 1 to 1000; got'),
      ]);
    }
  });
});

describe('errors', () => {
  const broken = (status: number) => ({
    ApiCall: { method: 'POST', url: `${api.url}/broken-${status}`, body: {}, outputPath: '/workflow/broken' },
  });

  test('an unsuccessful answer stops the execution in the format of the spec', async () => {
    api.answers('POST /broken-500', { message: 'oh no' }, { status: 500 });
    const result = await ann.execute(workflowOf({ 'op-1': fetchUsers, 'op-2': broken(500), 'op-3': filterActive }));
    expect(result).toMatchObject({
      status: 'partial_success',
      skipped: ['op-3'],
      error: {
        type: 'ExecutionError',
        operationId: 'op-2',
        details: { statusCode: 500, response: '{"message":"oh no"}' },
      },
    });
    expect(Object.keys(result.results)).toEqual(['op-1']);
    expect(result.error?.suggestions?.length).toBeGreaterThan(0);
    expect(api.count('POST /broken-500')).toBe(1);
  });

  test('with onError continue the rest runs, and every error is reported', async () => {
    api.answers('POST /broken-400', {}, { status: 400 });
    const operations = { a: broken(400), b: broken(500), c: fetchUsers };
    const result = await ann.execute(workflowOf(operations), { onError: 'continue' });
    expect(result).toMatchObject({ status: 'partial_success', error: { operationId: 'a' } });
    expect(result.errors?.map(({ operationId }) => operationId)).toEqual(['a', 'b']);
    expect(Object.keys(result.results)).toContain('c');
  });

  test('when nothing succeeds it is an error', async () => {
    expect(await ann.execute(workflowOf({ a: broken(400) }))).toMatchObject({ status: 'error', results: {} });
  });

  test('a redirect is not followed', async () => {
    api.answers('GET /moved', {}, { status: 302, headers: { location: `${api.url}/users` } });
    const moved = { ApiCall: { method: 'GET', url: `${api.url}/moved`, outputPath: '/workflow/x' } };
    const before = api.count('GET /users');
    const result = await ann.execute(workflowOf({ moved }));
    expect(result.error).toMatchObject({ type: 'ExecutionError', details: { statusCode: 302 } });
    expect(api.count('GET /users')).toBe(before);
  });

  test('out of time is a timeout, also while it waits', async () => {
    const result = await ann.execute(workflowOf({ wait: { Wait: { duration: 120_000 } } }), {
      timeout_ms: 200,
      level: 'lenient',
    });
    expect(result).toMatchObject({ status: 'timeout', error: { type: 'TimeoutError' } });
  });

  test('an expired execution is a timeout even in the middle of a call, whatever onError says, and nothing is sent after it', async () => {
    api.behaviours.set('GET /never', () => {});
    const never = { ApiCall: { method: 'GET', url: `${api.url}/never`, outputPath: '/workflow/x' } };
    const order = { ApiCall: { method: 'POST', url: `${api.url}/orders`, body: {}, outputPath: '/workflow/y' } };
    const before = api.count('POST /orders');
    for (const onError of ['stop', 'continue']) {
      const result = await ann.execute(workflowOf({ never, order }), { timeout_ms: 1000, onError, level: 'lenient' });
      expect(result).toMatchObject({
        status: 'timeout',
        error: { type: 'TimeoutError', operationId: 'never' },
        skipped: ['order'],
      });
    }
    expect(api.count('POST /orders')).toBe(before);
  });

  test('no level sends a method other than the five, nor a body with a GET', async () => {
    api.answers('TRACE /data', {});
    const trace = { ApiCall: { method: 'TRACE', url: `${api.url}/data`, outputPath: '/workflow/x' } };
    expect(await ann.validate(workflowOf({ trace }), { level: 'lenient' })).toMatchObject({ valid: false });
    const refused = await ann.post('execute', { workflow: workflowOf({ trace }), level: 'lenient' });
    expect([refused.status, api.count('TRACE /data')]).toEqual([400, 0]);
    const get = { ApiCall: { method: 'GET', url: `${api.url}/data?b`, body: { b: 1 }, outputPath: '/workflow/x' } };
    expect(await ann.execute(workflowOf({ get }), { level: 'lenient' })).toMatchObject({ status: 'success' });
    expect(api.requests.at(-1)).toMatchObject({ method: 'GET', path: '/data?b', body: '' });
  });

  test('a header that would not be sent is found before anything runs; what data fills in is a DataError', async () => {
    const call = (fields: JsonObject) => ({
      ApiCall: { method: 'POST', url: `${api.url}/orders`, outputPath: '/workflow/x', ...fields },
    });
    for (const fields of [
      { headers: { Host: 'other.example.com' } },
      { headers: { 'X-Forwarded-For': '10.0.0.1' } },
      { headers: { 'X-Note': 'ok 👍' } },
      { headers: { Accept: 'a', accept: 'b' } },
      { idempotencyKey: 'order-\u0001' },
    ]) {
      const workflow = workflowOf({ call: call(fields) });
      const { valid, errors } = await ann.validate(workflow);
      expect([fields, valid, errors.length]).toEqual([fields, false, 1]);
      expect((await ann.post('execute', { workflow })).status).toBe(400);
    }
    api.answers('GET /note', 'ok 👍');
    const note = { ApiCall: { method: 'GET', url: `${api.url}/note`, outputPath: '/workflow/note' } };
    for (const fields of [{ headers: { 'X-Note': '{/workflow/note}' } }, { idempotencyKey: '{/workflow/note}' }]) {
      const { error } = await ann.execute(workflowOf({ note, call: call(fields) }));
      expect(error).toMatchObject({ type: 'DataError', operationId: 'call' });
    }
  });

  test('what StoreData keeps is read later under any key it takes, and no other key is taken', async () => {
    for (const key of ['july.json', 'a/b.c', 'list[0]', ' ', 'é']) {
      const keep = { StoreData: { inputPath: '/workflow/users', storage: 'localStorage', key } };
      expect(await ann.execute(workflowOf({ fetchUsers, keep }))).toMatchObject({ status: 'success' });
      const read = {
        MergeData: { sources: [`/store/${key}`, `/store/${key}`], strategy: 'union', outputPath: '/workflow/x' },
      };
      expect(await ann.execute(workflowOf({ read }))).toMatchObject({ results: { read: USERS } });
    }
    for (const key of ['/abs', 'a//b', 'a/', '..', '../x', 'a[b]', '{x}', 'a\nb', '.a', 'a]']) {
      const keep = { StoreData: { inputPath: '/workflow/users', storage: 'file', key } };
      const report = await ann.validate(workflowOf({ fetchUsers, keep }));
      expect([key, report.valid, report.errors.length]).toEqual([key, false, 1]);
      expect((await ann.post('execute', { workflow: workflowOf({ fetchUsers, keep }) })).status).toBe(400);
    }
  });

  test('a host the operator does not allow is not called', async () => {
    const inner = { ApiCall: { method: 'GET', url: 'http://127.0.0.1:1/', outputPath: '/workflow/x' } };
    const result = await ann.execute(workflowOf({ inner }));
    expect(result.status).toBe('error');
    expect(result.error?.type).toMatch(/ExecutionError|PermissionError/);
  });
});

describe('retry, cache and limits', () => {
  const get = (path: string) => ({ ApiCall: { method: 'GET', url: `${api.url}${path}`, outputPath: '/workflow/x' } });

  test('a GET that fails for a while is tried again', async () => {
    let failures = 2;
    api.behaviours.set('GET /flaky', (_, response) => {
      if (failures-- > 0) send(response, 503, {}, { 'retry-after': '0' });
      else send(response, 200, 'at last');
    });
    expect(await ann.execute(workflowOf({ flaky: get('/flaky') }))).toMatchObject({ results: { flaky: 'at last' } });
    expect(api.count('GET /flaky')).toBe(3);
  });

  test('a POST is sent once, with a key again', async () => {
    let failures = 2;
    api.behaviours.set('POST /pay', (_, response) => {
      if (failures-- > 0) send(response, 503, {});
      else send(response, 200, 'paid');
    });
    const pay = { method: 'POST', url: `${api.url}/pay`, body: {}, outputPath: '/workflow/x' };
    expect((await ann.execute(workflowOf({ pay: { ApiCall: pay } }))).status).toBe('error');
    expect(api.count('POST /pay')).toBe(1);
    const keyed = { pay: { ApiCall: { ...pay, idempotencyKey: 'order-7' } } };
    expect(await ann.execute(workflowOf(keyed))).toMatchObject({ results: { pay: 'paid' } });
    const keys = api.requests.filter(({ path }) => path === '/pay').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([undefined, 'order-7', 'order-7']);
  });

  test('an answer stands for the next call of the same agent, until somebody writes there', async () => {
    let version = 0;
    api.behaviours.set('GET /cached', (_, response) => send(response, 200, ++version));
    const read = async (caller: WorkflowCaller) =>
      (await caller.execute(workflowOf({ c: get('/cached') }))).results['c'];
    expect([await read(ann), await read(ann), await read(bob)]).toEqual([1, 1, 2]);
    const order = { ApiCall: { method: 'POST', url: `${api.url}/orders`, body: {}, outputPath: '/workflow/o' } };
    await ann.execute(workflowOf({ order }));
    expect([await read(ann), await read(bob)]).toEqual([3, 2]);
    const cleared = await ann.call({ method: 'DELETE', path: '/api/v1/cache' });
    expect(((await cleared.json()) as { cleared: number }).cleared).toBeGreaterThan(0);
    expect([await read(ann), await read(bob)]).toEqual([4, 2]);
    await new WorkflowCaller(system, system.adminKey).call({ method: 'DELETE', path: '/admin/v1/cache' });
    expect(await read(bob)).toBe(5);
  });

  test('what was read while somebody wrote there does not stand for the next call', async () => {
    let stock = 1;
    const reached = new Promise<() => void>((arrive) => {
      api.behaviours.set('POST /stock', async (_, response) => {
        await new Promise<void>((go) => arrive(go));
        stock = 2;
        send(response, 200, {});
      });
    });
    api.behaviours.set('GET /stock', (_, response) => send(response, 200, stock));
    const read = async () => (await ann.execute(workflowOf({ c: get('/stock') }))).results['c'];
    const post = { ApiCall: { method: 'POST', url: `${api.url}/stock`, body: {}, outputPath: '/workflow/o' } };
    const writing = ann.execute(workflowOf({ post }));
    const finish = await reached;
    expect(await read()).toBe(1);
    finish();
    await writing;
    expect(await read()).toBe(2);
  });

  test('a no-store response is requested each time', async () => {
    api.answers('GET /fresh', 1, { headers: { 'cache-control': 'no-store' } });
    await ann.execute(workflowOf({ a: get('/fresh') }));
    await ann.execute(workflowOf({ a: get('/fresh') }));
    expect(api.count('GET /fresh')).toBe(2);
  });

  test('all five limits are reported, in headers with every answer, and as the 429 body of the spec', async () => {
    const limits = { requests_per_minute: 3, api_calls_per_minute: 1 };
    const few = new WorkflowCaller(system, (await system.caller('few-agent', { ...EVERYTHING, limits })).api_key);
    const answer = await few.post('execute', { workflow: workflowOf({ a: get('/fresh'), b: get('/fresh') }) });
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    expect(await answer.json()).toMatchObject({
      status: 'partial_success',
      error: { operationId: 'b', details: { code: 'rate_limited', retry_after: expect.any(Number) } },
    });
    const { json } = await few.get('rate-limit/status');
    expect(json).toMatchObject({
      agent_id: 'few-agent',
      limits: { requests_per_minute: 3, api_calls_per_minute: 1, api_calls_per_hour: 1_000_000 },
      usage: { requests_last_minute: 1, requests_last_day: 1, api_calls_last_minute: 1 },
      remaining: { requests_per_minute: 2, api_calls_per_minute: 0, api_calls_per_hour: 999_999 },
    });
    await few.get('executions');
    await few.get('executions');
    const refused = await few.call({ path: '/api/v1/executions' });
    expect(refused.status).toBe(429);
    const body = (await refused.json()) as JsonObject;
    expect(body).toEqual({
      error: 'Rate limit exceeded',
      message: 'Rate limit exceeded: 3 requests per minute.',
      retry_after: expect.any(Number),
    });
    expect(refused.headers['retry-after']).toBe(String(body['retry_after']));
    expect((await few.get('rate-limit/status')).status).toBe(200);
  });
});

describe('what is stored', () => {
  const keep = (storage: string, key: string) => ({ StoreData: { inputPath: '/workflow/users', storage, key } });
  const readBack = (key: string) => ({
    TransformData: {
      inputPath: `/store/${key}`,
      transform: 'sort',
      config: { field: 'points', order: 'desc' },
      outputPath: '/workflow/sorted',
    },
  });

  test.each(['localStorage', 'file'])('in %s is there for the next execution of the same agent', async (storage) => {
    const key = `kept-in-${storage}`;
    expect((await ann.execute(workflowOf({ fetch: fetchUsers, keep: keep(storage, key) }))).status).toBe('success');
    const sorted = await ann.execute(workflowOf({ sorted: readBack(key) }));
    expect((sorted.results['sorted'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'Cid',
      'Dan',
      'Ada',
      'Ben',
    ]);
    expect((await bob.validate(workflowOf({ sorted: readBack(key) }))).valid).toBe(false);
  });

  test('in sessionStorage is there for the same execution alone', async () => {
    const operations = { fetch: fetchUsers, keep: keep('sessionStorage', 'mine'), sorted: readBack('mine') };
    expect((await ann.execute(workflowOf(operations))).status).toBe('success');
    expect((await ann.validate(workflowOf({ sorted: readBack('mine') }))).valid).toBe(false);
  });
});

describe('progress', () => {
  const lines = (text: string) =>
    text
      .split('\n\n')
      .filter((block) => block.startsWith('id:'))
      .map((block) => {
        const [, id, event, data] = /^id: (\d+)\nevent: (\S+)\ndata: (.*)$/.exec(block) ?? [];
        return { id: Number(id), event, data: JSON.parse(data ?? 'null') };
      });

  test('is streamed as it happens, numbered, and can be read again from any event', async () => {
    const id = fresh();
    const workflow = workflowOf({ 'fetch-users': fetchUsers, filter: filterActive }, { id });
    const answer = await ann.post('execute', { workflow }, { accept: 'text/event-stream' });
    expect(answer.headers).toMatchObject({ location: `/api/v1/executions/${id}`, 'content-type': 'text/event-stream' });
    const progress = lines(await answer.text());
    expect(progress.map(({ id: number, event }) => `${number} ${event}`)).toEqual([
      '0 operation-started',
      '1 operation-finished',
      '2 operation-started',
      '3 operation-finished',
      '4 execution-finished',
    ]);
    expect(progress[1]?.data).toMatchObject({ sequence: 1, operationId: 'fetch-users', status: 'success' });
    expect(progress[4]?.data).toMatchObject({ status: 'success', result: { results: { filter: ACTIVE } } });
    const path = `/api/v1/executions/${id}/events`;
    const again = await ann.call({ path, headers: { 'last-event-id': '2' } });
    expect(lines(await again.text())).toEqual(progress.slice(3));
    expect(lines(await (await ann.call({ path: `${path}?after=4` })).text())).toEqual([]);
    expect((await bob.call({ path })).status).toBe(404);
  });

  test('a running execution shows the results so far, and names those that are too long to show', async () => {
    const id = fresh();
    const many = { ApiCall: { method: 'GET', url: `${api.url}/many`, outputPath: '/workflow/many' } };
    const wait = { Wait: { duration: 20_000 } };
    const workflow = workflowOf({ users: fetchUsers, filter: filterActive, many, wait }, { id });
    const answer = await ann.post('execute', { workflow }, { headers: { prefer: 'respond-async' } });
    expect(answer.status).toBe(202);
    await expect
      .poll(async () => (await ann.get(`executions/${id}`)).json)
      .toMatchObject({ execution_id: id, status: 'running', results: { filter: ACTIVE }, results_omitted: ['many'] });
    const { results } = (await ann.get(`executions/${id}`)).json as { results: object };
    expect(Object.keys(results)).toEqual(['users', 'filter']);
    expect((await bob.call({ path: `/api/v1/executions/${id}` })).status).toBe(404);
    await ann.call({ method: 'POST', path: `/api/v1/executions/${id}/cancel` });
    expect((await ann.get(`executions/${id}`)).json).toMatchObject({ status: 'cancelled', results });
  });

  test('respond-async answers at once; the events follow to the end; cancel ends it for good', async () => {
    const id = fresh();
    const workflow = workflowOf({ wait: { Wait: { duration: 20_000 } }, users: fetchUsers }, { id });
    const answer = await ann.post('execute', { workflow }, { headers: { prefer: 'respond-async' } });
    expect(answer.status).toBe(202);
    expect(answer.headers).toMatchObject({
      location: `/api/v1/executions/${id}`,
      'preference-applied': 'respond-async',
    });
    expect(await answer.json()).toMatchObject({ execution_id: id, status: 'running' });
    expect((await ann.get(`executions/${id}`)).json).toMatchObject({ status: 'running', results: {} });
    const stream = ann.call({ path: `/api/v1/executions/${id}/events` }).then((events) => events.text());
    expect((await bob.call({ method: 'POST', path: `/api/v1/executions/${id}/cancel` })).status).toBe(404);
    const cancelled = await ann.call({ method: 'POST', path: `/api/v1/executions/${id}/cancel` });
    expect(await cancelled.json()).toEqual({ execution_id: id, cancelled: true, status: 'cancelled' });
    expect((await ann.get(`executions/${id}`)).json).toMatchObject({ status: 'cancelled', skipped: ['users'] });
    expect(lines(await stream).at(-1)).toMatchObject({ event: 'execution-finished', data: { status: 'cancelled' } });
    const twice = await ann.call({ method: 'POST', path: `/api/v1/executions/${id}/cancel` });
    expect(await twice.json()).toEqual({ execution_id: id, cancelled: false, status: 'cancelled' });
  });
});

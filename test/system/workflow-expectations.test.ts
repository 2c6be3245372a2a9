import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { CountingApi, send } from './counting-api.ts';
import { System } from './system.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

const api = await CountingApi.start();
const system = await System.start({
  config: {
    apis: {
      users: { base_url: api.url },
      listed: { base_url: `${api.url}/listed`, endpoints: [{ method: 'GET', path: '/orders/{id}' }] },
      open: {
        base_url: `${api.url}/open`,
        endpoints: [{ method: 'GET', path: '/orders/{id}' }],
        allow_unlisted: true,
      },
    },
    gate: { allow: [api.host] },
    workflows: { cache_seconds: 60 },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const EVERYTHING = { permissions: { operations: ['*'], apis: ['*'], credentials: ['*'] } };
const { api_key: ANN } = await system.caller('ann-agent', EVERYTHING);
const { api_key: BOB } = await system.caller('bob-agent', EVERYTHING);
const ann = new WorkflowCaller(system, ANN);

api.answers('GET /count', 2);

function get(path: string, outputPath: string) {
  return { ApiCall: { method: 'GET', url: `${api.url}${path}`, outputPath } };
}

function post(path: string, more: object = {}) {
  return { ApiCall: { method: 'POST', url: `${api.url}${path}`, outputPath: `/workflow${path}`, ...more } };
}

describe('what StoreData keeps', () => {
  const key = 'totals of may';
  const storage = (path: string, { method = 'GET', as = ANN }: { method?: string; as?: string } = {}) =>
    call(system.url, { method, path: `/api/v1/storage${path}`, key: as });

  test('is read back by LoadData in a later execution, and listed, read and deleted by its owner alone', async () => {
    const store = { StoreData: { inputPath: '/workflow/count', storage: 'file', key } };
    expect(await ann.execute(workflowOf({ c: get('/count', '/workflow/count'), store }))).toMatchObject({
      status: 'success',
    });
    const load = { LoadData: { key, outputPath: '/workflow/loaded' } };
    expect(await ann.execute(workflowOf({ load }))).toMatchObject({ status: 'success', results: { load: 2 } });
    const place = `/${encodeURIComponent(key)}`;
    expect(await (await storage('')).json()).toMatchObject({ keys: [{ key, bytes: 1 }] });
    expect(await (await storage(place)).json()).toEqual({ key, value: 2 });
    expect((await storage(place, { as: BOB })).status).toBe(404);
    expect((await storage(place, { method: 'DELETE', as: BOB })).status).toBe(404);
    expect(await (await storage(place, { method: 'DELETE' })).json()).toEqual({ key, deleted: true });
    expect((await storage(place)).status).toBe(404);
    expect(await (await storage('')).json()).toEqual({ keys: [] });
    await expect(ann.execute(workflowOf({ load }))).rejects.toThrow('400: ');
  });
});

describe('a branch target that operationOrder lists too', () => {
  api.answers('POST /yes', {});
  api.answers('POST /no', {});
  const listed = () =>
    workflowOf({
      c: get('/count', '/workflow/count'),
      x: {
        Conditional: {
          condition: { path: '/workflow/count', operator: '>', value: 0 },
          ifTrue: ['yes'],
          ifFalse: ['no'],
        },
      },
      yes: post('/yes'),
      no: post('/no'),
    });

  test('is refused at strict and moderate, and nothing is sent', async () => {
    for (const level of ['strict', 'moderate']) {
      expect(await ann.validate(listed(), { level })).toMatchObject({ valid: false });
      const refused = await ann.post('execute', { workflow: listed(), level });
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain('target_listed');
    }
    expect([api.count('POST /yes'), api.count('POST /no')]).toEqual([0, 0]);
  });

  test('runs once at lenient, through its Conditional, and execute returns the warnings of validate', async () => {
    const workflow = listed();
    const report = await ann.validate(workflow, { level: 'lenient' });
    const result = await ann.execute(workflow, { level: 'lenient' });
    expect(result).toMatchObject({ status: 'success', skipped: ['no'] });
    expect([api.count('POST /yes'), api.count('POST /no')]).toEqual([1, 0]);
    expect(result.warnings?.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['target_listed', 'target_listed', 'plain_http']),
    );
    expect(result.warnings).toEqual(report.warnings);
  });
});

describe('one aggregation without grouping', () => {
  api.answers('GET /rows', [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  api.answers('POST /some', {});
  const when = (path: string) => ({
    Conditional: { condition: { path, operator: '>', value: 3 }, ifTrue: ['some'] },
  });
  const counted = (path: string) =>
    workflowOf(
      {
        rows: get('/rows', '/workflow/rows'),
        count: {
          TransformData: {
            inputPath: '/workflow/rows',
            transform: 'aggregate',
            config: { operation: 'count' },
            outputPath: '/workflow/count',
          },
        },
        check: when(path),
        some: post('/some', { body: { count: { path } } }),
      },
      { order: ['rows', 'count', 'check'] },
    );

  test('is a plain number that a Conditional compares, and is read at .result as well', async () => {
    for (const path of ['/workflow/count', '/workflow/count.result', '/workflow/count/result']) {
      const result = await ann.execute(counted(path));
      expect(result).toMatchObject({ status: 'success', results: { count: 4, check: { condition_met: true } } });
      expect(JSON.parse(api.requests.at(-1)?.body ?? '')).toEqual({ count: 4 });
    }
  });

  test('> on an object or array is an error before anything runs', async () => {
    for (const [path, got] of [
      ['/workflow/rows', 'an array'],
      ['/workflow/groups', 'an object'],
    ] as const) {
      const workflow = workflowOf(
        {
          all: get('/rows', '/workflow/all'),
          rows: {
            FilterData: {
              inputPath: '/workflow/all',
              conditions: [{ field: 'n', operator: '>', value: 1 }],
              outputPath: '/workflow/rows',
            },
          },
          groups: {
            TransformData: {
              inputPath: '/workflow/rows',
              transform: 'group',
              config: { field: 'n' },
              outputPath: '/workflow/groups',
            },
          },
          check: when(path),
          some: post('/some'),
        },
        { order: ['all', 'rows', 'groups', 'check'] },
      );
      const { valid, errors } = await ann.validate(workflow);
      expect(valid).toBe(false);
      expect(errors).toMatchObject([{ code: 'wrong_type', operationId: 'check' }]);
      expect(errors[0]?.message).toContain(got);
    }
  });
});

describe('values and templates in a request', () => {
  api.answers('POST /filled', {});

  test('a {path} deep in a body is filled in as a value: number, array or object', async () => {
    const body = {
      outer: { n: { path: '/workflow/count' }, list: [{ all: { path: '/workflow/rows' } }] },
      first: { deep: { path: '/workflow/rows/0' } },
    };
    const operations = {
      count: get('/count', '/workflow/count'),
      rows: get('/rows', '/workflow/rows'),
      send: post('/filled', { body }),
    };
    expect((await ann.execute(workflowOf(operations))).status).toBe('success');
    const rows = [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }];
    expect(JSON.parse(api.requests.at(-1)?.body ?? '')).toEqual({
      outer: { n: 2, list: [{ all: rows }] },
      first: { deep: { n: 1 } },
    });
  });

  test('near-miss templates are warned about, with the text and the right spelling', async () => {
    const send = post('/filled', {
      headers: { 'X-Key': '\u0024{API_KEY}' },
      body: { id: '{{item.id}}', text: 'for {users[0].name}', fine: 'a {word} and {"json": 1}' },
    });
    const { valid, warnings } = await ann.validate(workflowOf({ send }));
    expect(valid).toBe(true);
    const near = warnings.filter(({ code }) => code === 'near_template');
    expect(near.map(({ suggestion }) => suggestion)).toEqual([
      expect.stringContaining('credentialRef'),
      'write {/loop/item.id}',
      'write {/workflow/users[0].name}',
    ]);
    expect(near[1]?.message).toContain('{{item.id}}');
  });
});

describe('an API that refuses for now', () => {
  /** Answers with a status so often, then with 200. */
  function failing(path: string, status: number, times: number, headers: Record<string, string> = {}): void {
    let left = times;
    api.behaviours.set(`POST ${path}`, (_, response) => {
      if (left-- > 0) send(response, status, {}, headers);
      else send(response, 200, 'done');
    });
  }

  test('with 429 is retried for a POST as well, after Retry-After', async () => {
    failing('/busy', 429, 1, { 'retry-after': '1' });
    expect(await ann.execute(workflowOf({ a: post('/busy') }))).toMatchObject({ results: { a: 'done' } });
    expect(api.count('POST /busy')).toBe(2);
  });

  test('with 503 and Retry-After gets a POST again only if the call is marked idempotent or has a key', async () => {
    failing('/down', 503, 1, { 'retry-after': '0' });
    expect((await ann.execute(workflowOf({ a: post('/down') }))).status).toBe('error');
    expect(api.count('POST /down')).toBe(1);
    failing('/down', 503, 1, { 'retry-after': '0' });
    const again = workflowOf({ a: post('/down', { idempotent: true }) });
    expect(await ann.execute(again)).toMatchObject({ results: { a: 'done' } });
    expect(api.count('POST /down')).toBe(3);
  });

  test('past the timeout of a POST is a TimeoutError whose outcome is unknown', async () => {
    api.behaviours.set('POST /silent', () => {});
    const result = await ann.execute(workflowOf({ a: post('/silent', { timeout: 1000 }) }));
    expect(result).toMatchObject({
      status: 'error',
      error: { type: 'TimeoutError', details: { outcome: 'unknown', attempts: 1, url: `${api.url}/silent` } },
    });
    expect(api.count('POST /silent')).toBe(1);
  });

  test('reports the URL sent, the attempts and a Retry-After beyond the time left: in the error, the event and explain', async () => {
    failing('/later', 429, 9, { 'retry-after': '3600' });
    const later = post('/later', { query: { page: 'a b' } });
    const workflow = workflowOf({ a: later });
    const answer = await ann.post('execute', { workflow }, { headers: { accept: 'text/event-stream' } });
    const events = (await answer.text())
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)));
    const url = `${api.url}/later?page=a%20b`;
    expect(events[1]).toMatchObject({ event: 'operation-finished', status: 'error', url });
    const { result } = events[2];
    expect(result.error.details).toMatchObject({ statusCode: 429, url, attempts: 1, retry_after: 3600 });
    expect(result.error.suggestions[0]).toContain('3600 s');
    const explained = await ann.call({
      path: `/admin/v1/requests/${result.execution_id}`,
      key: system.adminKey,
    });
    expect(await explained.text()).toContain(JSON.stringify(url));
  });
});

describe('the same execution requested again', () => {
  test('is marked as replayed, with the time of the first run and a header; a GET that is recorded late as well', async () => {
    api.answers('POST /once', {});
    for (const operations of [{ a: post('/once') }, { a: get('/count', '/workflow/count') }]) {
      const workflow = workflowOf(operations);
      const first = await ann.post('execute', { workflow });
      expect(first.headers['idempotent-replayed']).toBeUndefined();
      const result = JSON.parse(await first.text());
      expect(result.replayed).toBeUndefined();
      const again = await ann.post('execute', { workflow });
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(await again.json()).toEqual({ replayed: true, first_run_at: result.started_at, ...result });
    }
    expect(api.count('POST /once')).toBe(1);
  });
});

describe('a fresh answer', () => {
  test('replaces the kept one: a later GET does not go back in time', async () => {
    let number = 0;
    api.behaviours.set('GET /number', (_, response) => send(response, 200, ++number));
    const ask = async (headers: Record<string, string> = {}) => {
      const call = { ApiCall: { method: 'GET', url: `${api.url}/number`, headers, outputPath: '/workflow/n' } };
      return (await ann.execute(workflowOf({ call }))).results['call'];
    };
    expect([await ask(), await ask(), await ask({ 'Cache-Control': 'no-cache' }), await ask()]).toEqual([1, 1, 2, 2]);
    expect([await ask({ 'cache-control': 'no-store' }), await ask(), await ask()]).toEqual([3, 4, 4]);
  });
});

describe('data', () => {
  const rows = { rows: get('/rows', '/workflow/rows') };
  const cut = (transform: string, config: JsonObject) => ({
    TransformData: { inputPath: '/workflow/rows', transform, config, outputPath: `/workflow/${transform}` },
  });

  test('limit and offset cut an array', async () => {
    const operations = { ...rows, limit: cut('limit', { count: 2, offset: 1 }), offset: cut('offset', { count: 3 }) };
    const { results } = await ann.execute(workflowOf(operations));
    expect(results).toMatchObject({ limit: [{ n: 2 }, { n: 3 }], offset: [{ n: 4 }] });
  });

  test('an error inside a Loop names the index and the item', async () => {
    const each = { Loop: { inputPath: '/workflow/rows', operations: ['one'], outputPath: '/workflow/all' } };
    const one = get('/missing/{/loop/item.n}', '/workflow/one');
    const result = await ann.execute(workflowOf({ ...rows, each, one }, { order: ['rows', 'each'] }));
    expect(result.error).toMatchObject({ operationId: 'one', details: { index: 0, item: { n: 1 }, statusCode: 404 } });
    expect(result.error?.message).toContain('loop index 0');
  });
});

describe('registered endpoints', () => {
  test('restrict agents without apis: ["*"], before and while a workflow runs; allow_unlisted lifts that', async () => {
    for (const path of ['/listed/orders/7', '/listed/secret', '/open/secret']) api.answers(`GET ${path}`, 'ok');
    api.answers('GET /segment', 'orders');
    const permissions = { operations: ['*'], apis: ['users', 'listed', 'open'], credentials: [] };
    const cat = new WorkflowCaller(system, (await system.caller('cat-agent', { permissions })).api_key);
    const call = (path: string) => workflowOf({ a: get(path, '/workflow/a') });
    expect((await cat.execute(call('/listed/orders/7'))).status).toBe('success');
    expect((await cat.execute(call('/open/secret'))).status).toBe('success');
    expect((await ann.execute(call('/listed/secret'))).status).toBe('success');
    const before = api.requests.length;
    const refused = await cat.post('execute', { workflow: call('/listed/secret') });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('endpoint_not_allowed');
    expect(api.requests).toHaveLength(before);
    // What a template is filled with is known only while it runs.
    const filled = workflowOf({
      segment: get('/segment', '/workflow/segment'),
      a: get('/listed/{/workflow/segment}/7', '/workflow/a'),
      b: get('/listed/orders/{/workflow/segment}', '/workflow/b'),
    });
    expect((await cat.execute(filled)).status).toBe('partial_success');
    api.answers('GET /segment', 'secrets');
    const other = await cat.execute(
      workflowOf({
        segment: {
          ApiCall: { ...get('/segment', '/workflow/segment').ApiCall, headers: { 'Cache-Control': 'no-cache' } },
        },
        a: get('/listed/{/workflow/segment}/7', '/workflow/a'),
      }),
    );
    expect(other.error).toMatchObject({ type: 'PermissionError', operationId: 'a' });
  });
});

import { failure, type Json } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { answered, RecordedEffects } from '../../test-support/recorded-effects.ts';
import { runWorkflow } from '../../test-support/run-workflow.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { Refused } from '../refusals/refused.ts';
import type { Progress } from './effects.ts';
import { MemoryResultCache } from './result-cache.ts';

const USERS = [
  { id: 1, name: 'Ada', status: 'active', points: 120 },
  { id: 2, name: 'Bob', status: 'gone', points: 300 },
  { id: 3, name: 'Cyd', status: 'active', points: 90 },
];
const upper = { FormatText: { inputPath: '/loop/item', format: 'upper', outputPath: '/workflow/upper' } };
const callItem = {
  ApiCall: { method: 'POST', url: 'https://api.example.com/{/loop/item}', outputPath: '/workflow/answer' },
};
const broken = { Calculate: { inputPath: '/workflow/users', operation: 'abs', outputPath: '/workflow/abs' } };

describe('a run', () => {
  test('runs the operations in order, one after another, and reports the value of each', async () => {
    const reported: Progress[] = [];
    const result = await runWorkflow(
      {
        active: {
          FilterData: {
            inputPath: '/workflow/users',
            conditions: [{ field: 'status', operator: '==', value: 'active' }],
            outputPath: '/workflow/active',
          },
        },
        sorted: {
          TransformData: {
            inputPath: '/workflow/active',
            transform: 'sort',
            config: { field: 'points' },
            outputPath: '/workflow/sorted',
          },
        },
      },
      { data: { users: USERS }, onProgress: (progress) => reported.push(progress) },
    );
    expect(result).toMatchObject({ status: 'success', skipped: [], errors: [] });
    expect([...result.results]).toEqual([
      ['fetch-users', USERS],
      ['active', [USERS[0], USERS[2]]],
      ['sorted', [USERS[2], USERS[0]]],
    ]);
    expect(reported.map(({ event, operationId }) => `${event} ${operationId}`)).toEqual([
      'operation-started fetch-users',
      'operation-finished fetch-users',
      'operation-started active',
      'operation-finished active',
      'operation-started sorted',
      'operation-finished sorted',
    ]);
  });

  test('stops at the first error by default; operations that did not start are skipped', async () => {
    const after = { FormatText: { inputPath: '/workflow/text', format: 'upper', outputPath: '/workflow/up' } };
    const data = { users: USERS, text: 'a' };
    const stopped = await runWorkflow({ broken, after }, { data });
    expect(stopped).toMatchObject({ status: 'partial_success', skipped: ['after'] });
    expect(stopped.errors).toMatchObject([
      {
        type: 'DataError',
        operationId: 'broken',
        message: '/workflow/users must be a number; got an array of 3 items',
      },
    ]);
    const continued = await runWorkflow({ broken, after }, { data, onError: 'continue' });
    expect(continued).toMatchObject({ status: 'partial_success', skipped: [] });
    expect(continued.results.get('after')).toBe('A');
  });

  test('is an error when nothing succeeded', async () => {
    const call = { ApiCall: { method: 'GET', url: 'https://api.example.com', outputPath: '/workflow/x' } };
    const effects = new RecordedEffects(() => answered({ why: 'busy' }, 503));
    const result = await runWorkflow({ call }, { effects });
    expect(result.status).toBe('error');
    expect(result.errors).toEqual([
      {
        type: 'ExecutionError',
        message: 'The API answered 503.',
        operationId: 'call',
        details: { statusCode: 503, response: '{"why":"busy"}' },
        suggestions: ['Check API endpoint availability'],
        category: 'api_error',
      },
    ]);
  });

  test('names the path that was probably meant, and who wrote it', async () => {
    const filter = {
      FilterData: {
        inputPath: '/workflow/users/active',
        conditions: [{ field: 'id', operator: '==', value: 1 }],
        outputPath: '/workflow/x',
      },
    };
    const wrapped = await runWorkflow({ filter }, { data: { users: { data: USERS } } });
    expect(wrapped.errors[0]).toMatchObject({
      type: 'DataError',
      message: '/workflow/users/active is not there',
      suggestions: ['/workflow/users has data'],
    });
    const whole = await runWorkflow(
      { filter: { FilterData: { ...filter.FilterData, inputPath: '/workflow/users' } } },
      { data: { users: { data: USERS } } },
    );
    expect(whole.errors[0]?.suggestions).toEqual(['did you mean /workflow/users/data?']);
  });

  test('lists the members that exist where one is missing', async () => {
    const suggestions = async (inputPath: string) => {
      const data = { user: { name: 'Ada', points: 7 }, list: [1, 2], text: 'x', none: {} };
      return (await runWorkflow({ up: upperOf(inputPath) }, { data })).errors[0]?.suggestions;
    };
    expect(await suggestions('/workflow/user/nme')).toEqual([
      'did you mean /workflow/user/name?',
      '/workflow/user has name, points',
    ]);
    expect(await suggestions('/workflow/user.age')).toEqual(['/workflow/user has name, points']);
    expect(await suggestions('/workflow/list[7]')).toEqual(['/workflow/list has the items 0 to 1']);
    expect(await suggestions('/workflow/text/length')).toEqual(['/workflow/text is "x", which has no members']);
    expect(await suggestions('/workflow/none/x')).toEqual(['/workflow/none is an empty object']);
  });

  test('gives the same digest for the same computation, and another for another', async () => {
    const digestOf = async (text: string) =>
      (await runWorkflow({ up: upperOf('/workflow/t') }, { data: { t: text } })).digest();
    expect(await digestOf('a')).toBe(await digestOf('a'));
    expect(await digestOf('a')).not.toBe(await digestOf('b'));
  });
});

describe('control', () => {
  test('a Conditional runs its branch; the other is skipped', async () => {
    const check = (value: number) => ({
      Conditional: {
        condition: { path: '/workflow/count', operator: '>', value },
        ifTrue: ['yes'],
        ifFalse: ['no'],
      },
    });
    const [yes, no] = [upperOf('/workflow/a'), upperOf('/workflow/b')];
    const data = { count: 3, a: 'a', b: 'b' };
    const met = await runWorkflow({ check: check(0), yes, no }, { data, order: ['check'] });
    expect(met.results.get('check')).toEqual({ condition_met: true, branch: 'ifTrue', execute: ['yes'] });
    expect(met.results.get('yes')).toBe('A');
    expect(met.skipped).toEqual(['no']);
    const unmet = await runWorkflow({ check: check(5), yes, no }, { data, order: ['check'] });
    expect(unmet.results.get('no')).toBe('B');
    expect(unmet.skipped).toEqual(['yes']);
  });

  test('a Conditional refuses to order an array or object, which would never hold', async () => {
    const check = (operator: string) => ({
      Conditional: { condition: { path: '/workflow/count', operator, value: 0 }, ifTrue: ['yes'] },
    });
    const run = (operator: string, count: Json) =>
      runWorkflow(
        { check: check(operator), yes: upperOf('/workflow/a') },
        { data: { count, a: 'a' }, order: ['check'] },
      );
    for (const count of [[1], { n: 4 }]) {
      expect((await run('>', count)).errors[0]).toMatchObject({
        type: 'DataError',
        message: expect.stringContaining('/workflow/count must be a number or a string'),
      });
      expect((await run('==', count)).errors).toEqual([]);
    }
    expect((await run('<=', { n: 4 })).errors[0]?.suggestions).toEqual(['did you mean /workflow/count/n?']);
    expect((await run('>', null)).errors).toEqual([]);
  });

  test('a Loop collects what its last operation gives, in order, and restores what it covered', async () => {
    const loop = { Loop: { inputPath: '/workflow/names', operations: ['upper'], outputPath: '/workflow/all' } };
    const item = upperOf('/workflow/item');
    const result = await runWorkflow(
      { loop, upper, item },
      { data: { names: ['a', 'b'], item: 'kept' }, order: ['loop', 'item'] },
    );
    expect(result.results.get('loop')).toEqual(['A', 'B']);
    expect(result.results.get('item')).toBe('KEPT');
  });

  test('a Conditional inside a Loop hands on what its branch gives', async () => {
    const result = await runWorkflow(
      {
        loop: { Loop: { inputPath: '/workflow/names', operations: ['check'], outputPath: '/workflow/all' } },
        check: { Conditional: { condition: { path: '/loop/item', operator: '==', value: 'b' }, ifTrue: ['upper'] } },
        upper,
      },
      { data: { names: ['a', 'b'] }, order: ['loop'] },
    );
    expect(result.results.get('loop')).toEqual([null, 'B']);
  });

  test('loops nest; each effect has its own key, the same in every run', async () => {
    const operations = {
      outer: { Loop: { inputPath: '/workflow/rows', operations: ['inner'] } },
      inner: { Loop: { inputPath: '/loop/item', operations: ['call'] } },
      call: callItem,
    };
    const keysOf = async () => {
      const effects = new RecordedEffects(({ url }) => answered(url.endsWith('rows') ? [['a', 'b'], ['c']] : 1));
      await runWorkflow(operations, { data: { rows: [] }, effects, order: ['outer'] });
      return effects.calls.map(({ key, digest }) => [key, digest]);
    };
    const first = await keysOf();
    expect(first.map(([key]) => key)).toEqual(['fetch-rows', 'call[0][0]', 'call[0][1]', 'call[1][0]']);
    expect(await keysOf()).toEqual(first);
  });

  test('an operation that runs twice in one place has two keys', async () => {
    const effects = new RecordedEffects(() => answered(1));
    const call = { ApiCall: { method: 'POST', url: 'https://api.example.com', outputPath: '/workflow/x' } };
    const first = { Conditional: { condition: { path: '/workflow/x', operator: 'empty' }, ifTrue: ['call'] } };
    const second = { Conditional: { condition: { path: '/workflow/x', operator: 'exists' }, ifTrue: ['call'] } };
    await runWorkflow({ first, second, call }, { effects, order: ['first', 'second'] });
    expect(effects.calls.map(({ key }) => key)).toEqual(['call', 'call#2']);
  });

  test('items worked on at once end in any order and are put together in theirs', async () => {
    const waiting: (() => void)[] = [];
    const effects = new RecordedEffects(({ url }, key) => {
      if (key.startsWith('fetch')) return answered(['a', 'b', 'c']);
      return new Promise((resolve) => waiting.push(() => resolve(answered(url.at(-1)))));
    });
    const running = runWorkflow(
      {
        loop: { Loop: { inputPath: '/workflow/in', operations: ['call'], parallel: 3, outputPath: '/workflow/out' } },
        call: callItem,
        last: upperOf('/workflow/answer'),
      },
      { data: { in: [] }, effects, order: ['loop', 'last'] },
    );
    while (waiting.length < 3) await new Promise(setImmediate);
    for (const answer of waiting.reverse()) {
      answer();
      await new Promise(setImmediate);
    }
    const { results, digest } = await running;
    expect(results.get('loop')).toEqual(['a', 'b', 'c']);
    expect(results.get('last')).toBe('C');
    const inOrder = new RecordedEffects(({ url }, key) =>
      answered(key.startsWith('fetch') ? ['a', 'b', 'c'] : url.at(-1)),
    );
    const again = await runWorkflow(
      {
        loop: { Loop: { inputPath: '/workflow/in', operations: ['call'], parallel: 3, outputPath: '/workflow/out' } },
        call: callItem,
        last: upperOf('/workflow/answer'),
      },
      { data: { in: [] }, effects: inOrder, order: ['loop', 'last'] },
    );
    expect(again.digest()).toBe(digest());
  });

  test('a failed item is null when the execution continues, and ends it when not', async () => {
    const loop = { Loop: { inputPath: '/workflow/in', operations: ['upper'], outputPath: '/workflow/out' } };
    const data = { in: ['a', 1, 'c'] };
    const on = await runWorkflow({ loop, upper }, { data, order: ['loop'], onError: 'continue' });
    expect(on.results.get('loop')).toEqual(['A', null, 'C']);
    expect(on.errors).toMatchObject([{ operationId: 'upper', type: 'DataError' }]);
    const off = await runWorkflow({ loop, upper }, { data, order: ['loop'] });
    expect(off.results.has('loop')).toBe(false);
    expect(off.errors).toHaveLength(1);
  });
});

describe('budgets', () => {
  const loop = { Loop: { inputPath: '/workflow/in', operations: ['upper'] } };
  const items = (count: number) => ({ in: Array.from({ length: count }, () => 'a') });

  test.each([
    ['steps', { steps: 12 }, 10],
    ['iterations', { iterations: 10 }, 10],
  ])('%s: at the limit it runs, above it does not, whatever onError says', async (budget, budgets, most) => {
    const run = (count: number) =>
      runWorkflow({ loop, upper }, { data: items(count), budgets, order: ['loop'], onError: 'continue' });
    expect((await run(most)).status).toBe('success');
    const over = await run(most + 1);
    expect(over.status).toBe('partial_success');
    expect(over.errors).toMatchObject([{ type: 'ExecutionError', details: { budget } }]);
  });

  test('API calls are counted before they are made', async () => {
    const effects = new RecordedEffects(({ url }) => answered(url.endsWith('/in') ? ['a', 'b', 'c'] : 1));
    const calls = { loop: { Loop: { inputPath: '/workflow/in', operations: ['call'] } }, call: callItem };
    const result = await runWorkflow(calls, { data: { in: [] }, effects, order: ['loop'], budgets: { apiCalls: 3 } });
    expect(result.errors).toMatchObject([{ details: { budget: 'api_calls', limit: 3 } }]);
    expect(effects.calls).toHaveLength(3);
  });

  test('data that doubles itself ends before it is made', async () => {
    const merge = {
      MergeData: { sources: ['/workflow/in', '/workflow/in'], strategy: 'concat', outputPath: '/workflow/in' },
    };
    const again = { Loop: { inputPath: '/workflow/times', operations: ['merge'] } };
    const data = { in: ['x'.repeat(1000)], times: Array.from({ length: 60 }, (_, at) => at) };
    const result = await runWorkflow({ again, merge }, { data, order: ['again'] });
    expect(result.errors).toMatchObject([{ details: { budget: 'data_bytes', limit: 16_777_216 } }]);
    expect(result.used.dataBytes).toBeLessThan(16_777_217);
  });

  test('filtered items do not count as data', async () => {
    const rows = Array.from({ length: 300 }, (_, id) => ({ id, text: 'x'.repeat(100) }));
    const keep = (at: number) => ({
      FilterData: {
        inputPath: '/workflow/rows',
        conditions: [{ field: 'id', operator: '==', value: at }],
        outputPath: `/workflow/kept${at}`,
      },
    });
    const steps = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`keep${at}`, keep(at)]));
    const result = await runWorkflow(steps, { data: { rows }, budgets: { dataBytes: 70_000 } });
    expect(result.status).toBe('success');
  });
});

describe('time', () => {
  test('an execution that times out reports its operation', async () => {
    const clock = new TestClock();
    const effects = new RecordedEffects(() => new Promise(() => {}));
    const call = {
      ApiCall: { method: 'GET', url: 'https://api.example.com', timeout: 300_000, outputPath: '/workflow/x' },
    };
    const after = upperOf('/workflow/x');
    const running = runWorkflow({ call, after }, { effects, clock, timeoutMs: 1000 });
    clock.pass(1000);
    expect(await running).toMatchObject({
      status: 'timeout',
      skipped: ['after'],
      errors: [{ type: 'TimeoutError', operationId: 'call' }],
    });
    expect(effects.calls[0]?.request.timeoutMs).toBe(1000);
  });

  test.each([
    ['GET', undefined],
    ['POST', 'unknown'],
    ['DELETE', 'unknown'],
  ])('one that is ended during a %s reports its outcome as %s', async (method, outcome) => {
    const controller = new AbortController();
    const effects = new RecordedEffects(() => new Promise(() => {}));
    const call = { ApiCall: { method, url: 'https://api.example.com', outputPath: '/workflow/x' } };
    const running = runWorkflow({ call }, { effects, signal: controller.signal });
    controller.abort(new Refused(failure('timeout')));
    const { status, errors } = await running;
    expect([status, errors[0]?.details?.['outcome'], errors[0]?.details?.['retryable']]).toEqual([
      'timeout',
      outcome,
      outcome === undefined,
    ]);
  });

  test('one that is cancelled is cancelled', async () => {
    const controller = new AbortController();
    const effects = new RecordedEffects(() => new Promise(() => {}));
    const call = { ApiCall: { method: 'GET', url: 'https://api.example.com', outputPath: '/workflow/x' } };
    const running = runWorkflow({ call }, { effects, signal: controller.signal });
    controller.abort(new Refused(failure('cancelled')));
    expect((await running).status).toBe('cancelled');
  });
});

describe('stored data', () => {
  test.each([
    ['too_large', 'ExecutionError'],
    ['invalid_message', 'DataError'],
    ['forbidden', 'PermissionError'],
  ] as const)('what is refused as %s while it runs is a %s: the workflow was valid', async (code, type) => {
    const effects = new RecordedEffects(() => Promise.reject(new Refused(failure(code))));
    const call = { ApiCall: { method: 'GET', url: 'https://api.example.com', outputPath: '/workflow/x' } };
    expect((await runWorkflow({ call }, { effects })).errors).toMatchObject([{ type, details: { code } }]);
  });

  test('StoreData writes, and the value can be read back at once', async () => {
    const effects = new RecordedEffects(() => answered('a'));
    const store = { StoreData: { inputPath: '/workflow/in', storage: 'localStorage', key: 'reports/july' } };
    const result = await runWorkflow({ store, up: upperOf('/store/reports/july') }, { data: { in: '' }, effects });
    expect(result.results.get('up')).toBe('A');
    const [{ write } = { write: undefined }] = effects.writes;
    expect(write).toMatchObject({ storage: 'localStorage', key: 'reports/july', operationId: 'store' });
    expect(new TextDecoder().decode(write?.json)).toBe('"a"');
  });

  test('StoreData keeps nothing that cannot be read back', async () => {
    const effects = new RecordedEffects(() => answered(JSON.parse('['.repeat(64) + ']'.repeat(64))));
    const wrap = { ValidateData: { inputPath: '/workflow/in', validationType: 'email', outputPath: '/workflow/out' } };
    const store = { StoreData: { inputPath: '/workflow/out', storage: 'localStorage', key: 'deep' } };
    const { errors } = await runWorkflow({ wrap, store }, { data: { in: [] }, effects });
    expect(errors).toMatchObject([
      { type: 'DataError', message: expect.stringContaining('/workflow/out cannot be stored') },
    ]);
    expect(effects.writes).toEqual([]);
  });

  test('values of earlier executions are found by the longest name that fits, and read once', async () => {
    const effects = new RecordedEffects();
    effects.kept.set('reports/july', '{"name":"a"}');
    const result = await runWorkflow(
      { up: upperOf('/store/reports/july/name'), again: upperOf('/store/reports/july/name') },
      { effects },
    );
    expect(result.results.get('again')).toBe('A');
    expect(effects.reads).toEqual(['stored:reports/july/name', 'stored:reports/july']);
  });

  test('storing under a name leaves the value under its prefix unchanged', async () => {
    const effects = new RecordedEffects();
    effects.kept.set('l', '[1]');
    effects.kept.set('r', '{"n":1}');
    effects.kept.set('old', '[1]');
    effects.kept.set('old.json', '{"name":"a"}');
    const keep = (key: string, inputPath: string) => ({ StoreData: { inputPath, storage: 'localStorage', key } });
    const both = (path: string) => ({
      MergeData: { sources: [path, path], strategy: 'union', outputPath: '/workflow/x' },
    });
    const result = await runWorkflow(
      {
        list: keep('list', '/store/l'),
        inside: keep('list/x', '/store/r'),
        report: keep('report', '/store/r'),
        file: keep('report.json', '/store/l'),
        a: both('/store/list'),
        b: both('/store/report'),
        c: both('/store/list/x'),
        d: both('/store/old'),
        e: upperOf('/store/old.json.name'),
        f: both('/store/old'),
      },
      { effects },
    );
    expect(result.errors).toEqual([]);
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => result.results.get(id))).toEqual([
      [1],
      { n: 1 },
      { n: 1 },
      [1],
      'A',
      [1],
    ]);
  });

  test('a name with dots in it is found whole, and what lies below it too', async () => {
    const effects = new RecordedEffects();
    effects.kept.set('reports/july.json', '{"name":"a"}');
    const result = await runWorkflow({ up: upperOf('/store/reports/july.json.name') }, { effects });
    expect(result.results.get('up')).toBe('A');
    expect(effects.reads).toEqual(['stored:reports/july.json.name', 'stored:reports/july.json']);
  });
});

describe('the sources of data', () => {
  test('a request with data that a credential fetched names its source', async () => {
    const labels = [{ from: 'private.example.com', to: ['private.example.com'] }];
    const effects = new RecordedEffects(({ url }) =>
      url.includes('private') ? { ...answered([{ id: 'x', text: 'mine' }]), labels } : answered(1),
    );
    const credentials = { Authorization: { credentialRef: { id: 'key' } } };
    const sent = (path: string) => ({
      ApiCall: { method: 'POST', url: 'https://other.example.com', body: { path }, outputPath: '/workflow/sent' },
    });
    await runWorkflow(
      {
        secret: {
          ApiCall: {
            method: 'GET',
            url: 'https://private.example.com',
            headers: credentials,
            outputPath: '/workflow/s',
          },
        },
        open: { ApiCall: { method: 'GET', url: 'https://open.example.com', outputPath: '/workflow/o' } },
        pick: {
          TransformData: {
            inputPath: '/workflow/s',
            transform: 'select',
            config: { field: 'text' },
            outputPath: '/workflow/p',
          },
        },
        tainted: sent('/workflow/p'),
        clean: sent('/workflow/o'),
      },
      { effects },
    );
    const carried = Object.fromEntries(effects.calls.map(({ key, request }) => [key, request.carries]));
    expect(carried).toEqual({ secret: [], open: [], tainted: labels, clean: [] });
  });

  test('an operation on the same answer is found in the cache; on another it is not', async () => {
    const cache = new MemoryResultCache({ clock: new TestClock(), maxBytes: 1_000_000 });
    const [found, reported]: [string[], string[]] = [[], []];
    const own = cache.of('ada');
    const watched = {
      get: (lineage: string) => {
        const value = own.get(lineage);
        found.push(value === undefined ? 'made' : 'found');
        return value;
      },
      put: own.put,
    };
    const sort = {
      TransformData: {
        inputPath: '/workflow/in',
        transform: 'sort',
        config: { field: 'id' },
        outputPath: '/workflow/out',
      },
    };
    const run = (lineage: string, id: number) =>
      runWorkflow(
        { sort },
        {
          data: { in: [] },
          effects: new RecordedEffects(() => ({ ...answered([{ id }]), lineage })),
          cache: watched,
          onProgress: (progress) => {
            if (progress.operationId === 'sort' && 'cached' in progress) reported.push(lineage);
          },
        },
      );
    await run('first', 1);
    expect(reported).toEqual([]);
    expect((await run('first', 1)).results.get('sort')).toEqual([{ id: 1 }]);
    expect((await run('second', 2)).results.get('sort')).toEqual([{ id: 2 }]);
    expect(found).toEqual(['made', 'found', 'made']);
    expect(reported).toEqual(['first']);
    expect(cache.of('bob').get('first')).toBeUndefined();
  });

  test('the result of MergeData for the same answer is found there too', async () => {
    const cache = new MemoryResultCache({ clock: new TestClock(), maxBytes: 1_000_000 }).of('ada');
    const sources = ['/workflow/in', '/workflow/in'];
    const merge = { MergeData: { sources, strategy: 'union', outputPath: '/workflow/out' } };
    const reported: string[] = [];
    for (const round of ['first', 'second']) {
      await runWorkflow(
        { merge },
        {
          data: { in: [] },
          effects: new RecordedEffects(() => ({ ...answered([1]), lineage: 'same' })),
          cache,
          onProgress: (progress) => {
            if (progress.operationId === 'merge' && 'cached' in progress) reported.push(round);
          },
        },
      );
    }
    expect(reported).toEqual(['second']);
  });
});

function upperOf(inputPath: string) {
  return { FormatText: { inputPath, format: 'upper', outputPath: '/workflow/up' } };
}

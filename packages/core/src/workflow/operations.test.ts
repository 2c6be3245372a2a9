import { describe, expect, test } from 'vitest';
import { answered, RecordedEffects } from '../../test-support/recorded-effects.ts';
import { resultOf, runWorkflow } from '../../test-support/run-workflow.ts';
import { CredentialUse } from '../secrets/credential-use.ts';

const ROWS = [
  { id: 1, city: 'Oslo', points: 5, address: { zip: 'N1' } },
  { id: 2, city: 'Lima', points: 9, address: { zip: 'P2' } },
  { id: 3, city: 'Oslo', points: 7 },
  { id: 4, points: null },
];

describe('FilterData', () => {
  test.each([
    ['==', 'Oslo', [1, 3]],
    ['!=', 'Oslo', [2, 4]],
    ['in', ['Lima', 'Quito'], [2]],
    ['contains', 'im', [2]],
    ['startsWith', 'Os', [1, 3]],
    ['endsWith', 'a', [2]],
    ['exists', undefined, [1, 2, 3]],
    ['empty', undefined, [4]],
  ])('%s on a text', async (operator, value, ids) => {
    expect(await idsWhere({ field: 'city', operator, value })).toEqual(ids);
  });

  test.each([
    ['>', 5, [2, 3]],
    ['>=', 5, [1, 2, 3]],
    ['<', 7, [1]],
    ['<=', 7, [1, 3]],
    ['>', '5', []],
  ])('%s compares numbers with numbers', async (operator, value, ids) => {
    expect(await idsWhere({ field: 'points', operator, value })).toEqual(ids);
  });

  test.each([
    [1, [{ a: 1 }]],
    ['1', [{ a: '1' }]],
    [0, [{ a: 0 }]],
    [true, [{ a: true }]],
    [null, [{ a: null }]],
  ])('== and != take %j for nothing but itself', async (value, same) => {
    const rows = [{ a: 1 }, { a: '1' }, { a: 0 }, { a: '' }, { a: false }, { a: true }, { a: null }, { b: 1 }];
    const kept = async (operator: string) =>
      resultOf('FilterData', rows, { conditions: [{ field: 'a', operator, value }] });
    expect(await kept('==')).toEqual(same);
    expect(await kept('!=')).toEqual(rows.filter(({ a }) => a !== value));
  });

  test('reads dotted fields, and first a name that contains the dot', async () => {
    expect(await idsWhere({ field: 'address.zip', operator: '==', value: 'P2' })).toEqual([2]);
    const rows = [{ 'a.b': 1 }, { a: { b: 1 } }, { 'a.b': 2, a: { b: 1 } }];
    const conditions = [{ field: 'a.b', operator: '==', value: 1 }];
    expect(await resultOf('FilterData', rows, { conditions })).toEqual(rows.slice(0, 2));
  });

  test('takes its right side from a path, and leaves out what has no fields', async () => {
    const rows = [{ id: 1 }, 'id', null, 1, [{ id: 1 }]];
    const conditions = [{ field: 'id', operator: '==', value: { path: '/workflow/in/0/id' } }];
    expect(await resultOf('FilterData', rows, { conditions })).toEqual([{ id: 1 }]);
  });

  test('finds nothing that is merely inherited', async () => {
    const conditions = [{ field: 'toString', operator: 'exists' }];
    expect(await resultOf('FilterData', [{}, { toString: 1 }], { conditions })).toEqual([{ toString: 1 }]);
    const length = [{ field: 'length', operator: '>', value: 0 }];
    expect(await resultOf('FilterData', [[1, 2], { length: 1 }], { conditions: length })).toEqual([{ length: 1 }]);
  });

  async function idsWhere(condition: object) {
    const kept = (await resultOf('FilterData', ROWS, { conditions: [condition] })) as { id: number }[];
    return kept.map(({ id }) => id);
  }
});

describe('TransformData', () => {
  const transformed = (transform: string, config: object, input: unknown = ROWS) =>
    resultOf('TransformData', input as never, { transform, config });

  test('map computes expressions over the fields of each item', async () => {
    const mapped = (rows: readonly object[], fields: object) => transformed('map', { fields }, rows);
    const rows = [
      { name: 'nut', price: 2.5, box: { count: 4 } },
      { name: 'nail', price: 1, box: { count: 10 } },
    ];
    const fields = { name: 'article', total: '{price} * {box.count}', net: '({price} + 1) / 2 - -{price}' };
    expect(await mapped(rows, fields)).toEqual([
      { article: 'nut', total: 10, net: 4.25 },
      { article: 'nail', total: 10, net: 2 },
    ]);
    expect(await mapped([rows[0] ?? {}, { price: '3' }], { total: '{price} * 2' })).toMatchObject({
      type: 'DataError',
      message: '{price} of item 1 must be a number; got "3"',
    });
    expect(await mapped([{}], { total: '{price} * 2' })).toMatchObject({
      message: '{price} of item 0 must be a number; got no such field',
    });
    expect(await mapped([{ a: 1 }], { total: '{a} / ({a} - 1)' })).toMatchObject({ message: 'divide by zero' });
    expect(await mapped([{ a: 1e308 }], { total: '{a} * 10' })).toMatchObject({ type: 'DataError' });
  });

  test('map renames, and what is missing is null', async () => {
    expect(await transformed('map', { fields: { id: 'key', 'address.zip': 'zip' } })).toEqual([
      { key: 1, zip: 'N1' },
      { key: 2, zip: 'P2' },
      { key: 3, zip: null },
      { key: 4, zip: null },
    ]);
  });

  test('select keeps what is there', async () => {
    expect(await transformed('select', { fields: ['id', 'city'] }, ROWS.slice(2))).toEqual([
      { id: 3, city: 'Oslo' },
      { id: 4 },
    ]);
    expect(await transformed('select', { field: 'data.users' }, { data: { users: [1] } })).toEqual([1]);
    expect(await transformed('select', { field: 'id' })).toEqual([1, 2, 3, 4]);
    expect(await transformed('select', { field: 'gone' }, { data: 1 })).toMatchObject({ type: 'DataError' });
  });

  test.each([
    [{ field: 'points' }, [1, 3, 2, 4]],
    [{ field: 'points', order: 'desc' }, [2, 3, 1, 4]],
    [{ fields: { city: 'desc', points: 'desc' } }, [3, 1, 2, 4]],
    [{ fields: ['city', 'id'], order: 'asc' }, [2, 1, 3, 4]],
  ])('sort by %j, what is missing last', async (config, ids) => {
    expect(((await transformed('sort', config)) as { id: number }[]).map(({ id }) => id)).toEqual(ids);
  });

  test('group collects by the text of a value, in the order of first appearance', async () => {
    const grouped = (await transformed('group', { field: 'city' })) as object;
    expect(Object.keys(grouped)).toEqual(['Oslo', 'Lima', 'unknown']);
    expect(grouped).toEqual({ Oslo: [ROWS[0], ROWS[2]], Lima: [ROWS[1]], unknown: [ROWS[3]] });
    const mixed = [{ v: 1 }, { v: '1' }, { v: '__proto__' }, { v: 1 }];
    expect(await transformed('groupBy', { field: 'v' }, mixed)).toEqual(
      Object.fromEntries([
        ['1', [mixed[0], mixed[1], mixed[3]]],
        ['__proto__', [mixed[2]]],
      ]),
    );
  });

  test('aggregate never gives anything but a number', async () => {
    const rows = [{ n: 1e308 }, { n: 1e308 }, { n: -1e308 }];
    for (const operation of ['sum', 'avg']) {
      const message = `${operation} does not give a finite number`;
      const settings = { transform: 'aggregate', config: { field: 'n', operation } };
      expect(await resultOf('TransformData', rows, settings)).toEqual({ type: 'DataError', message });
    }
  });

  test('aggregate without a field counts every item, whatever it is', async () => {
    expect(await resultOf('TransformData', [null, 1, 'a', {}], { transform: 'aggregate' })).toBe(4);
  });

  test('aggregate gives one result, or the requested ones', async () => {
    expect(await transformed('aggregate', { field: 'points', operation: 'sum' })).toBe(21);
    expect(await transformed('aggregate', {})).toBe(4);
    const operations = [
      { operation: 'count', field: 'city', as: 'cities' },
      { operation: 'avg', field: 'points' },
      { operation: 'min', field: 'points', as: 'least' },
      { operation: 'max', field: 'city', as: 'last' },
      { operation: 'max', field: 'gone', as: 'none' },
    ];
    expect(await transformed('aggregate', { operations })).toEqual({
      cities: 3,
      avg_points: 7,
      least: 5,
      last: 'Oslo',
      none: null,
    });
  });
});

describe('MergeData', () => {
  const merged = async (strategy: string, ...sources: unknown[]) => {
    const data = Object.fromEntries(sources.map((source, at) => [`s${at}`, source as never]));
    const paths = sources.map((_, at) => `/workflow/s${at}`);
    const merge = { MergeData: { sources: paths, strategy, outputPath: '/workflow/out' } };
    const { results, errors } = await runWorkflow({ merge }, { data });
    return errors[0]?.message ?? results.get('merge');
  };

  test.each([
    ['concat', [[1, 2], [2]], [1, 2, 2]],
    ['merge', [[1, 2], [2]], [1, 2, 2]],
    [
      'union',
      [
        [{ a: 1, b: 2 }, 1],
        [{ b: 2, a: 1 }, '1', 1],
      ],
      [{ a: 1, b: 2 }, 1, '1'],
    ],
    [
      'intersect',
      [
        [{ a: 1 }, 2, 3, 3],
        [3, { a: 1 }],
        [3, { a: 1 }, 9],
      ],
      [{ a: 1 }, 3],
    ],
    [
      'deepMerge',
      [
        [{ a: 1 }, 2],
        [{ b: 2 }, 3, 4],
      ],
      [{ a: 1, b: 2 }, 3, 4],
    ],
  ])('%s of arrays', async (strategy, sources, expected) => {
    expect(await merged(strategy, ...sources)).toEqual(expected);
  });

  test.each([
    ['union', [{ a: 1 }, { a: 2, b: 2 }], { a: 1, b: 2 }],
    [
      'intersect',
      [
        { a: { x: 1 }, b: 2 },
        { a: { x: 1 }, b: 3 },
      ],
      { a: { x: 1 } },
    ],
    ['deepMerge', [{ a: { x: 1, l: [1] } }, { a: { y: 2, l: [2] } }], { a: { x: 1, y: 2, l: [2] } }],
    ['merge', [{ a: 1 }, { b: 2 }], { a: 1, b: 2 }],
  ])('%s of objects', async (strategy, sources, expected) => {
    expect(await merged(strategy, ...sources)).toEqual(expected);
  });

  test('sources that do not fit together are reported', async () => {
    expect(await merged('concat', [1], { a: 1 })).toBe('/workflow/s1 must be an array; got an object with 1 member');
    expect(await merged('union', [1], { a: 1 })).toContain('sources must be all arrays or all objects');
  });

  test('a member called __proto__ stays a member', async () => {
    const evil = JSON.parse('{"__proto__": {"polluted": 1}, "a": {"__proto__": {"polluted": 1}}}');
    const result = (await merged('deepMerge', evil, { a: { b: 1 } })) as object;
    expect(Object.hasOwn(result, '__proto__')).toBe(true);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test.each(['union', 'intersect', 'merge'])('and of %s nothing is inherited from it', async (strategy) => {
    const evil = () => JSON.parse('{"__proto__": {"polluted": 1}, "b": 1}');
    const result = (await merged(strategy, evil(), evil())) as { polluted?: number };
    expect(Object.keys(result)).toEqual(['__proto__', 'b']);
    expect(result.polluted).toBeUndefined();
  });

  test('a hundred thousand elements take no time to speak of', async () => {
    const list = (from: number) =>
      Array.from({ length: 50_000 }, (_, at) => ({ id: from + at, name: `n${from + at}` }));
    // Pairwise comparison would exceed the time limit of the test.
    expect(await merged('union', list(0), list(25_000))).toHaveLength(75_000);
  });
});

describe('ApiCall', () => {
  const call = async (config: object, data: Record<string, never> | object = {}, answer = answered({ ok: true })) => {
    const effects = new RecordedEffects(({ url }) => {
      const [, name] = /data\.example\.com\/(.*)/.exec(url) ?? [];
      return name === undefined ? answer : answered((data as Record<string, unknown>)[name]);
    });
    const step = {
      ApiCall: { method: 'GET', url: 'https://api.example.com/x', outputPath: '/workflow/out', ...config },
    };
    const { results, errors } = await runWorkflow({ step }, { data: data as never, effects });
    const [error] = errors;
    return { result: results.get('step'), error, request: effects.calls.at(-1)?.request };
  };

  test('fills path segments and query values, percent-encoded', async () => {
    const { request } = await call(
      { url: 'https://api.example.com/u/{/workflow/id}?q={/workflow/q}' },
      { id: 'a/b?c#d', q: '&x=1' },
    );
    expect(request?.url).toBe('https://api.example.com/u/a%2Fb%3Fc%23d?q=%26x%3D1');
  });

  test.each(['..', '.', ''])('data that would leave its segment (%j) is refused', async (id) => {
    const { error } = await call({ url: 'https://api.example.com/u/{/workflow/id}/x' }, { id });
    expect(error?.type).toBe('DataError');
  });

  test.each(['%2e', '%2E', '.'])('nor does it leave it together with a %s that was written', async (written) => {
    const { error } = await call({ url: `https://api.example.com/u/${written}{/workflow/id}/x` }, { id: '.' });
    expect(error?.type).toBe('DataError');
  });

  test('puts references into headers, query and body, and secrets only where they are named', async () => {
    const { request } = await call(
      {
        method: 'POST',
        headers: { 'X-Id': { path: '/workflow/id' }, Authorization: { credentialRef: { id: 'key' } } },
        query: { page: 2, name: 'n-{/workflow/id}' },
        body: { id: { path: '/workflow/id' }, text: 'at {/workflow/id}', deep: { path: { path: '/workflow/id' } } },
        idempotencyKey: 'once-{/workflow/id}',
        timeout: 5000,
      },
      { id: 7 },
    );
    expect(request).toMatchObject({
      headers: { 'Content-Type': 'application/json', 'X-Id': '7', Authorization: new CredentialUse('key') },
      query: [
        ['page', '2'],
        ['name', 'n-7'],
      ],
      idempotencyKey: 'once-7',
      timeoutMs: 5000,
    });
    const body = request?.body;
    const text = body !== undefined && 'bytes' in body ? new TextDecoder().decode(body.bytes) : '';
    expect(JSON.parse(text)).toEqual({ id: 7, text: 'at 7', deep: { path: 7 } });
  });

  test('data with a line end does not begin another header', async () => {
    const { error } = await call({ headers: { 'X-Id': { path: '/workflow/id' } } }, { id: 'a\r\nX: b' });
    expect(error).toMatchObject({ type: 'DataError', message: expect.stringContaining('must be one line') });
  });

  test.each([
    ['application/json', '{"a":1}', { a: 1 }],
    ['application/problem+json; charset=utf-8', '[1]', [1]],
    ['text/plain', '{"a":1}', '{"a":1}'],
    [null, '{"a":1}', { a: 1 }],
    [null, 'hello', 'hello'],
    ['application/json', '', null],
  ])('an answer of %s is read as what it is', async (contentType, text, expected) => {
    const { result } = await call({}, {}, { status: 200, contentType, bytes: new TextEncoder().encode(text) });
    expect(result).toEqual(expected);
  });

  test.each([
    ['application/json', '{"a":1,"a":2}'],
    ['application/json', 'oops'],
    ['image/png', 'x'],
  ])('an answer of %s that cannot be read is a DataError', async (contentType, text) => {
    const { error } = await call({}, {}, { status: 200, contentType, bytes: new TextEncoder().encode(text) });
    expect(error?.type).toBe('DataError');
  });

  test('a redirect is a failure', async () => {
    const { error } = await call({}, {}, answered({}, 302));
    expect(error).toMatchObject({ type: 'ExecutionError', details: { statusCode: 302 } });
    expect(error?.message).toContain('redirects are not followed');
  });
});

describe('text and numbers', () => {
  test.each([
    ['upper', 'Ada b', 'ADA B'],
    ['lower', 'Ada B', 'ada b'],
    ['title', 'éva o’neil', 'Éva O’neil'],
    ['capitalize', 'aDA b', 'Ada b'],
    ['trim', ' a ', 'a'],
  ])('FormatText %s', async (format, input, expected) => {
    expect(await resultOf('FormatText', input, { format })).toBe(expected);
  });

  test('FormatText fills fields, the value and paths, and replaces all at once', async () => {
    const template = 'Hi {name.first}, {/workflow/in/id}, {"json": 1}';
    expect(await resultOf('FormatText', { id: 3, name: { first: 'Ada' } }, { format: 'template', template })).toBe(
      'Hi Ada, 3, {"json": 1}',
    );
    expect(await resultOf('FormatText', 5, { format: 'template', template: '<{value}>' })).toBe('<5>');
    expect(await resultOf('FormatText', {}, { format: 'template', template: '{gone}' })).toMatchObject({
      type: 'DataError',
    });
    const replacements = { a: 'b', b: 'a', 'a.': 'x' };
    expect(await resultOf('FormatText', 'ab a.', { format: 'replace', replacements })).toBe('ba x');
  });

  test('a template that would fill the memory is refused before it is filled', async () => {
    const template = '{value}'.repeat(9000);
    expect(await resultOf('FormatText', 'x'.repeat(100_000), { format: 'template', template })).toMatchObject({
      type: 'ExecutionError',
    });
  });

  test('ExtractText gives the first match or null, or all', async () => {
    expect(await resultOf('ExtractText', 'a1 b22', { pattern: '[0-9]+' })).toBe('1');
    expect(await resultOf('ExtractText', 'a', { pattern: '[0-9]+' })).toBeNull();
    expect(await resultOf('ExtractText', 'a1 b22', { pattern: '[0-9]+', extractAll: true })).toEqual(['1', '22']);
  });

  test('a pattern that hangs other engines does not hang this one', async () => {
    expect(await resultOf('ExtractText', 'a'.repeat(5000), { pattern: '(a+)+b' })).toBeNull();
  });

  test.each([
    ['email', 'ada@example.com', true],
    ['email', 'ada@', false],
    ['url', 'https://example.com/a', true],
    ['url', 'javascript:alert(1)', false],
    ['number', '-1.5e3', true],
    ['number', 'one', false],
    ['integer', 3, true],
    ['integer', 3.5, false],
    ['phone', '+34 600 123 456', true],
    ['phone', '12', false],
    ['date', '2024-02-29', true],
    ['date', '2023-02-29', false],
  ])('ValidateData %s of %j', async (validationType, input, valid) => {
    expect(await resultOf('ValidateData', input, { validationType })).toMatchObject({ valid, value: input });
  });

  test('ValidateData by a pattern of the whole value', async () => {
    const config = { validationType: 'custom', pattern: '[a-z]+' };
    expect(await resultOf('ValidateData', 'abc', config)).toEqual({ valid: true, value: 'abc' });
    expect(await resultOf('ValidateData', 'abc1', config)).toMatchObject({ valid: false });
  });

  test.each([
    ['add', 2, { operand: 3 }, 5],
    ['power', 2, { operand: 10 }, 1024],
    ['modulo', 7, { operand: 4 }, 3],
    ['round', 1.005, {}, 1.01],
    ['round', -2.5, { precision: 0 }, -3],
    ['round', 1e-7, { precision: 2 }, 0],
    ['round', 1.5e-7, { precision: 7 }, 2e-7],
    ['round', 1e21, { precision: 2 }, 1e21],
    ['floor', 1.9, {}, 1],
    ['sum', [1, 'x', 2.5], {}, 3.5],
    ['average', [2, 4, null], {}, 3],
    ['max', [2, 9, 4], {}, 9],
    ['subtract', 9, { operand: { path: '/workflow/in' } }, 0],
  ])('Calculate %s', async (operation, input, config, expected) => {
    expect(await resultOf('Calculate', input as never, { operation, ...config })).toBe(expected);
  });

  test.each([
    [5, 'max', 9, 9],
    [5, 'min', 9, 5],
    [[1, 5], 'max', 9, 9],
    [[], 'min', 3, 3],
    [[1, 5], 'sum', 9, 6],
  ])('Calculate compares %j by %s with an operand too', async (input, operation, operand, result) => {
    expect(await resultOf('Calculate', input, { operation, operand })).toBe(result);
  });

  test('Calculate never gives anything but a number', async () => {
    const zero = { operation: 'divide', operand: { path: '/workflow/in' } };
    expect(await resultOf('Calculate', 0, zero)).toEqual({ type: 'DataError', message: 'divide by zero' });
    expect(await resultOf('Calculate', [], { operation: 'average' })).toMatchObject({ type: 'DataError' });
    expect(await resultOf('Calculate', 1e300, { operation: 'power', operand: 9 })).toMatchObject({ type: 'DataError' });
  });

  test.each([
    ['base64', 'añ', 'YcOx'],
    ['url', 'a b&ñ', 'a%20b%26%C3%B1'],
    ['html', '<a href="x">\'&', '&lt;a href=&quot;x&quot;&gt;&#39;&amp;'],
  ])('EncodeDecode %s there and back', async (encoding, text, encoded) => {
    expect(await resultOf('EncodeDecode', text, { operation: 'encode', encoding })).toBe(encoded);
    expect(await resultOf('EncodeDecode', encoded, { operation: 'decode', encoding })).toBe(text);
  });

  test('EncodeDecode decodes as long a text as there can be', async () => {
    const text = 'abc'.repeat(4_000_000);
    const encoded = Buffer.from(text).toString('base64');
    const decode = {
      EncodeDecode: { inputPath: '/workflow/in', operation: 'decode', encoding: 'base64', outputPath: '/workflow/out' },
    };
    const data = { in: encoded };
    const { results } = await runWorkflow({ decode }, { data, budgets: { dataBytes: 2 ** 26 } });
    expect(results.get('decode') === text).toBe(true);
  });

  test('EncodeDecode refuses what is not encoded so', async () => {
    const decoded = (encoding: string, text: string) =>
      resultOf('EncodeDecode', text, { operation: 'decode', encoding });
    for (const text of ['a b', 'YcOxA', 'A', 'YQ=a', '===']) {
      expect(await decoded('base64', text), text).toMatchObject({ type: 'DataError' });
    }
    expect(await decoded('base64', '//8=')).toMatchObject({ type: 'DataError' });
    expect(await decoded('url', '%E0%A4%A')).toMatchObject({ type: 'DataError' });
  });
});

describe('data of another shape', () => {
  const op = (type: string, config: object) => ({
    [type]: { inputPath: '/workflow/in', outputPath: '/workflow/out', ...config },
  });
  const filter = op('FilterData', { conditions: [{ field: 'a', operator: '==', value: 1 }] });
  const double = op('Calculate', { operation: 'multiply', operand: 2 });
  const upper = op('FormatText', { format: 'upper' });
  const shift = op('DateCalculation', { operation: 'add', days: 1 });
  const fill = op('FormatText', { format: 'template', template: 'Dear {name}' });
  const merge = {
    MergeData: { sources: ['/workflow/in', '/workflow/in'], strategy: 'concat', outputPath: '/workflow/m' },
  };
  const decode = op('EncodeDecode', { operation: 'decode', encoding: 'base64' });
  const call = (more: object) => ({
    ApiCall: { method: 'GET', url: 'https://api.example.com/x', outputPath: '/workflow/out', ...more },
  });

  test.each([
    [{ total: 1, rows: [] }, filter, 'did you mean /workflow/in/rows?'],
    [{ a: 1, b: 2 }, filter, 'name the member to use: it has a, b'],
    [null, filter, 'Conditional'],
    ['[1]', filter, 'Accept'],
    [{ price: 3, name: 'x' }, double, 'did you mean /workflow/in/price?'],
    [[1, 2], double, '/workflow/in[0], or work on each of them in a Loop'],
    [{ name: 'x', n: 1 }, upper, 'did you mean /workflow/in/name?'],
    [{ at: '2026-01-02' }, shift, 'did you mean /workflow/in/at?'],
    [1_767_225_600_000, shift, 'in seconds'],
    [{ nmae: 'x' }, fill, 'did you mean {nmae}?'],
    ['x', fill, '{value}'],
    [{ rows: [] }, merge, 'did you mean /workflow/in/rows?'],
    ['%%', decode, 'set encoding to'],
    [[], op('Calculate', { operation: 'max' }), 'Conditional'],
    ['', call({ url: 'https://api.example.com/{/workflow/in}' }), 'whether /workflow/in is empty'],
    ['a\nb', call({ headers: { 'X-A': { path: '/workflow/in' } } }), 'line breaks'],
    ['→', call({ headers: { 'X-A': { path: '/workflow/in' } } }), 'EncodeDecode'],
  ])('%j is refused with the nearest fix', async (input, step, fix) => {
    const { errors } = await runWorkflow({ step }, { data: { in: input } });
    expect(errors).toMatchObject([{ type: 'DataError', suggestions: [expect.stringContaining(fix)] }]);
  });
});

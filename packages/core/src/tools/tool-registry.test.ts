import type { Json, JsonObject, JsonSchema } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { ToolEvent } from '../call/caller-tools.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Ending } from '../ending/ending.ts';
import { type Refused, refuse } from '../refusals/refused.ts';
import { toolFrom } from './define-tool.ts';
import { FixedTools } from './fixed-tools.ts';
import type { ToolCall } from './tool.ts';
import { ToolRegistry } from './tool-registry.ts';

const ADA: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };

async function call(input: JsonSchema, args: JsonObject, run: (args: JsonObject, call: ToolCall) => unknown = () => 1) {
  const registry = new ToolRegistry({ clock: new TestClock() });
  registry.add(new FixedTools([toolFrom({ name: 'it', input, run })]));
  return registry.call({ name: 'it', args, principal: ADA, ending: new Ending() });
}

describe('events of a tool without a listener', () => {
  test('is in the result', async () => {
    const { events } = await call({ type: 'object' }, {}, (_, running) => running.progress(50, 'half'));
    expect(events).toEqual([{ kind: 'progress', data: { pct: 50, message: 'half' } }]);
  });

  test.each([
    ['many pieces', 150, 10],
    ['large pieces', 20, 200_000],
  ])('is kept up to a limit that leaves the result one line, and the rest is named: %s', async (_, count, size) => {
    const { events } = await call({ type: 'object' }, {}, (_, running) => {
      for (let piece = 0; piece < count; piece++) running.artifact({ name: 'f', chunk: 'x'.repeat(size) });
    });
    expect(JSON.stringify(events).length).toBeLessThan(1_100_000);
    const message = expect.stringContaining(`${count - events.length + 1} more`);
    expect(events.at(-1)).toEqual({ kind: 'log', data: { level: 'warn', message } });
  });
});

describe('a result that is too long is cut and marked', () => {
  const summarized = async (data: Json, summary: string) => {
    const registry = new ToolRegistry({ clock: new TestClock(), maxResult: 100 });
    const definition = {
      ...toolFrom({ name: 'it', input: {}, run: () => 1 }),
      run: () => ({ success: true, data, summary }),
    };
    registry.add(new FixedTools([definition]));
    return registry.call({ name: 'it', args: {}, principal: ADA, ending: new Ending() });
  };

  test.each<[string, Json, string, object]>([
    ['neither', 'short', 'x'.repeat(98), { data: 'short', summary: 'x'.repeat(98), truncated: false }],
    ['its data', ['x'.repeat(200)], 'short', { data: `["${'x'.repeat(98)}`, summary: 'short', truncated: true }],
    ['its summary', 'short', 'x'.repeat(101), { data: 'short', summary: 'x'.repeat(100), truncated: true }],
    [
      'its summary, but no character of it',
      1,
      `${'x'.repeat(99)}\u{1f600}`,
      { summary: 'x'.repeat(99), truncated: true },
    ],
  ])('%s', async (_, data, summary, expected) => {
    expect(await summarized(data, summary)).toMatchObject(expected);
  });
});

describe('errors of a tool', () => {
  const calling = (run: (args: JsonObject, call: ToolCall) => unknown) => call({ type: 'object' }, {}, run);
  const throwing = (error: unknown) =>
    calling(() => {
      throw error;
    });

  test.each([
    ['an error', new Error('boom'), 'boom'],
    ['a text', 'boom', 'boom'],
    [
      'an error with a failure of its own kind',
      Object.assign(new Error('boom'), { failure: { code: 'forbidden' } }),
      'boom',
    ],
    ['nothing', undefined, 'The tool failed.'],
  ])('is reported in its own words: %s', async (_, thrown, message) => {
    await expect(throwing(thrown)).rejects.toMatchObject({ message, failure: { code: 'tool_failed' } });
  });

  test.each<[string, (call: ToolCall) => unknown, string]>([
    ['that holds itself', () => circle(), 'the result of it is not JSON: it contains itself'],
    [
      'with a BigInt',
      async () => ({ n: 1n }),
      'the result of it is not JSON: it has a BigInt; give a number or a string',
    ],
  ])('is not raw text of the engine for a result %s', async (_, run, message) => {
    await expect(calling((_, running) => run(running))).rejects.toMatchObject({
      message,
      failure: { code: 'tool_failed' },
    });
  });

  test('is reported with the code of its cause only: the cause may name more than the tool did', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
    await expect(throwing(new TypeError('fetch failed', { cause }))).rejects.toThrow(/^fetch failed \(ECONNREFUSED\)$/);
    await expect(throwing(new Error('it has ECONNREFUSED', { cause }))).rejects.toThrow(/^it has ECONNREFUSED$/);
    await expect(throwing(new Error('boom', { cause: 'the disk' }))).rejects.toThrow(/^boom$/);
  });

  describe('is in the log with', () => {
    const log = new SilentLog();
    const logged = async (run: () => unknown) => {
      const registry = new ToolRegistry({ clock: new TestClock(), log });
      registry.add(new FixedTools([toolFrom({ name: 'it', input: {}, run })]));
      log.lines.length = 0;
      const toolCall = { name: 'it', args: {}, principal: ADA, ending: new Ending() };
      await expect((async () => registry.call(toolCall))()).rejects.toThrow();
      return log.lines;
    };

    test.each([
      ['at once', () => (undefined as unknown as { x: number }).x],
      ['later', async () => (undefined as unknown as { x: number }).x],
    ])('the tool and the line where it threw, %s', async (_, run) => {
      const [line, ...more] = await logged(run);
      expect(line).toMatchObject({ level: 'warn', message: 'a tool threw', fields: { tool: 'it' } });
      expect(line?.fields['error']).toContain("reading 'x'");
      expect(line?.fields['stack']).toMatch(/^\s+at .*tool-registry\.test\.ts:\d+/);
      expect(line?.fields['at']).toMatch(/^[^\n]*tool-registry\.test\.ts:\d+:\d+\)?$/);
      expect(more).toEqual([]);
    });

    test('all that caused it, and no credentials', async () => {
      const first = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
      const cause = new Error('cannot reach postgres://ada:open-sesame@10.0.0.7/db', { cause: first });
      const [line] = await logged(() => {
        throw new Error('Bearer abcdefgh12345678 was refused', { cause });
      });
      expect(line?.fields).toMatchObject({
        error: 'Bearer [redacted] was refused',
        cause: 'cannot reach postgres://[redacted]@10.0.0.7/db; connect ECONNREFUSED 10.0.0.7:5432',
      });
    });

    test('has a limited length, whatever it throws', async () => {
      const cause: { cause?: unknown; message: string } = { message: 'x'.repeat(10_000) };
      cause.cause = cause;
      const [line] = await logged(async () => {
        throw Object.assign(new Error('y'.repeat(10_000)), { cause });
      });
      expect(JSON.stringify(line).length).toBeLessThan(8_000);
      expect(line?.fields['stack']).toContain('tool-registry.test.ts');
      expect(await logged(() => Promise.reject(undefined))).toMatchObject([{ fields: { tool: 'it', error: '' } }]);
    });

    test('nothing where it was refused in words of ours', async () => {
      expect(await logged(() => refuse('forbidden'))).toEqual([]);
    });
  });

  test('is cut where it is too long to be words', async () => {
    await expect(throwing(new Error('x'.repeat(10_000)))).rejects.toThrow(/^x{2000}$/);
    const result = await calling((_, running) => running.failed('x'.repeat(10_000)));
    expect(result).toMatchObject({ success: false, error: 'x'.repeat(2_000) });
  });

  test('is cut at no half of a character', async () => {
    const words = `a${'\u{1f600}'.repeat(5_000)}`;
    const cut = `a${'\u{1f600}'.repeat(999)}`;
    await expect(throwing(new Error(words))).rejects.toMatchObject({ message: cut });
    expect(await calling((_, running) => running.failed(words))).toMatchObject({ error: cut });
  });

  test('may be a caught error, with a number as its code: authors need not know our types', async () => {
    const caught = new Error('no such city') as unknown as string;
    const code = 404 as unknown as string;
    const result = await calling((_, running) => running.failed(caught, { code, data: [1] }));
    expect(result).toMatchObject({ success: false, error: 'no such city', error_code: '404', data: [1] });
  });

  test('a line of its log has its words, also where they are all there is', async () => {
    const { events } = await calling((_, { log }) => {
      log.info({ n: 1 }, 'both');
      (log.warn as unknown as (message: string) => void)('alone');
      (log.warn as unknown as (fields: object) => void)({ n: 2 });
      (log.error as unknown as (error: Error) => void)(new Error('caught'));
      (log.error as unknown as (fields: object, error: Error) => void)({ n: 3 }, new Error('caught'));
    });
    expect(events).toEqual([
      { kind: 'log', data: { n: 1, level: 'info', message: 'both' } },
      { kind: 'log', data: { level: 'warn', message: 'alone' } },
      { kind: 'log', data: { n: 2, level: 'warn', message: '' } },
      { kind: 'log', data: { level: 'error', message: 'caught' } },
      { kind: 'log', data: { n: 3, level: 'error', message: 'caught' } },
    ]);
  });
});

describe('a call that does not end by itself', () => {
  /** A tool that runs until it is aborted, and its outcome. */
  function running(maxTimeoutMs?: number) {
    const clock = new TestClock();
    const registry = new ToolRegistry({ clock, ...(maxTimeoutMs !== undefined && { maxTimeoutMs }) });
    const definition: ToolEvent[] = [];
    const calls: ToolCall[] = [];
    const wait = (_: JsonObject, one: ToolCall) => {
      calls.push(one);
      return new Promise(() => {});
    };
    registry.add(new FixedTools([toolFrom({ name: 'it', input: {}, run: wait })]));
    const ending = new Ending();
    const begin = async (timeoutMs: number): Promise<string> => {
      const toolCall = { name: 'it', args: {}, principal: ADA, ending, timeoutMs };
      try {
        await registry.call({ ...toolCall, onEvent: (event) => definition.push(event) });
        return 'done';
      } catch (error) {
        return (error as Error).message;
      }
    };
    return { clock, calls, definition, ending, begin };
  }

  test('is aborted when its time is up, and its later events are dropped', async () => {
    const { clock, calls, definition, begin } = running();
    const over = begin(1_000);
    await clock.advance(999);
    calls[0]?.status('in time');
    expect(calls[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(await over).toBe('The tool did not finish within 1 s.');
    expect(calls[0]?.signal.aborted).toBe(true);
    calls[0]?.status('too late');
    expect(definition).toEqual([{ kind: 'status', data: { message: 'in time' } }]);
  });

  test('is aborted when its caller gives up', async () => {
    const { clock, calls, ending, begin } = running();
    const over = begin(1_000);
    await clock.advance(0);
    ending.end(new Error('enough'));
    expect(await over).toBe('enough');
    expect(calls[0]?.signal.reason).toMatchObject({ message: 'enough' });
    expect(clock.waiting).toBe(0);
  });

  test('is not started when its caller gave up before', async () => {
    const { calls, ending, begin } = running();
    ending.end(new Error('enough'));
    expect(await begin(1_000)).toBe('enough');
    expect(calls).toEqual([]);
  });

  test.each([
    ['asks for more', 5_000],
    ['asks for nothing', 0],
  ])('has no longer than any call may have: one that %s', async (_, timeoutMs) => {
    const { clock, begin } = running(1_500);
    const over = begin(timeoutMs);
    await clock.advance(1_500);
    expect(await over).toBe('The tool did not finish within 1.5 s.');
  });
});

test('a call whose caller gives up at its first event is ended as any other, and its later error is caught', async () => {
  const clock = new TestClock();
  const registry = new ToolRegistry({ clock });
  const ending = new Ending();
  const run = async (_: JsonObject, one: ToolCall) => {
    one.status('more than anybody reads');
    await new Promise((resolve) => one.signal.addEventListener('abort', resolve));
    throw new Error('stopped');
  };
  registry.add(new FixedTools([toolFrom({ name: 'it', input: {}, run })]));
  const onEvent = () => ending.end(new Error('enough'));
  const toolCall = { name: 'it', args: {}, principal: ADA, ending, timeoutMs: 1_000 };
  const calling = async () => registry.call({ ...toolCall, onEvent });
  await expect(calling()).rejects.toThrow('enough');
  await clock.advance(0);
  expect(clock.waiting).toBe(0);
});

test('an ended call is not aborted by a later end of its caller, and leaves no timer', async () => {
  const clock = new TestClock();
  const registry = new ToolRegistry({ clock });
  const calls: ToolCall[] = [];
  const run = async (_: JsonObject, one: ToolCall) => calls.push(one);
  registry.add(new FixedTools([toolFrom({ name: 'it', input: {}, run })]));
  const ending = new Ending();
  await registry.call({ name: 'it', args: {}, principal: ADA, ending, timeoutMs: 1_000 });
  ending.end(new Error('enough'));
  expect(calls[0]?.signal.aborted).toBe(false);
  expect(clock.waiting).toBe(0);
});

test('a caller that may not use a tool does not learn its name from a similar one', async () => {
  const registry = new ToolRegistry({ clock: new TestClock() });
  registry.add(new FixedTools([toolFrom({ name: 'payroll', input: {}, run: () => 1 })]));
  const asking = async (tools: readonly string[]) =>
    registry.call({
      name: 'payrol',
      args: {},
      principal: { ...ADA, permissions: { ...ALL_PERMISSIONS, tools } },
      ending: new Ending(),
    });
  await expect(asking(['*'])).rejects.toMatchObject({
    failure: { code: 'not_found', details: { suggestions: ['did you mean payroll?'] } },
  });
  await expect(asking(['payrol'])).rejects.toMatchObject({
    failure: { code: 'not_found', details: { suggestions: [] } },
  });
});

test('only callers that have not turned its toolkit off learn why a tool is missing', async () => {
  const registry = new ToolRegistry({ clock: new TestClock() });
  const whyNot = () => ({ toolkit: 'files', message: 'It is held.', fix: 'accept it' });
  registry.add({ tools: () => [], find: () => undefined, whyNot });
  const asking = async (without: readonly string[]) =>
    registry.call({ name: 'it', args: {}, principal: ADA, ending: new Ending(), without: new Set(without) });
  await expect(asking([])).rejects.toThrow('It is held.');
  await expect(asking(['files'])).rejects.toThrow('There is no tool "it".');
});

describe('arguments are checked by', () => {
  test.each<[string, JsonSchema]>([
    ['a schema of draft 2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...pair('prefixItems') }],
    ['a schema of draft 2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', ...pair('items') }],
    ['a schema of draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', ...pair('items') }],
    [
      'a schema of draft 7 by its other address',
      { $schema: 'https://json-schema.org/draft-07/schema', ...pair('items') },
    ],
    ['a schema of draft 6', { $schema: 'http://json-schema.org/draft-06/schema#', ...pair('items') }],
    ['a schema of draft 4', { $schema: 'http://json-schema.org/draft-04/schema#', ...pair('items') }],
    ['a schema without $schema, in an older dialect', pair('items')],
    ['a schema without $schema, in a newer dialect', { ...pair('prefixItems'), dependentRequired: {} }],
  ])('%s', async (_, schema) => {
    expect(await call(schema, { at: [1, 2] })).toMatchObject({ success: true });
    await expect(call(schema, { at: ['x', 2] })).rejects.toMatchObject({
      failure: { code: 'invalid_message', details: { issues: [{ pointer: '/arguments/at/0' }] } },
    });
  });

  test('the first fault where there are very many arguments, and by all of them where there are few', async () => {
    const schema: JsonSchema = { additionalProperties: { type: 'number' } };
    const faults = async (count: number) => {
      const args = Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, at < 2 ? 'x' : 1]));
      const refused = await Promise.resolve(call(schema, args)).catch((error: unknown) => error);
      return (refused as { failure: { details: { issues: unknown[] } } }).failure.details.issues.length;
    };
    expect([await faults(100), await faults(3_000)]).toEqual([2, 1]);
  });

  test.each<[string, JsonSchema, RegExp]>([
    ['a type there is not', { type: 'objekt' }, /^The input schema of the tool it cannot be used .*\/type/],
    ['a reference to elsewhere', { $ref: 'https://example.com/x.json' }, /example\.com/],
    ['a pattern that cannot be matched in linear time', { properties: { a: { pattern: '(?!x)' } } }, /\(\?!/],
    [
      'patterns that come to too much together',
      { properties: Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`m${n}`, { pattern: `(?:abc${n}){1,600}` }])) },
      /more than 20000 parts in all/,
    ],
    [
      'nothing but itself',
      { $ref: '#' },
      /^The input schema of the tool it cannot be used \(it refers to itself endlessly/,
    ],
    [
      'itself behind others',
      { $defs: { a: { allOf: [{ $ref: '#' }] } }, $ref: '#/$defs/a' },
      /refers to itself endlessly/,
    ],
    ['an unknown dialect', { $schema: 'https://example.com/dialect' }, /example\.com\/dialect/],
  ])('no schema with %s, and callers learn the problem', async (_, schema, words) => {
    const refused = call(schema, { a: 'x' });
    await expect(refused).rejects.toMatchObject({ failure: { code: 'tool_failed' } });
    await expect(refused).rejects.toThrow(words);
  });
});

describe('arguments that would take too long to check', () => {
  const dialects = ['draft/2020-12', 'draft/2019-09', 'draft-07'].map(
    (name) => `https://json-schema.org/${name}/schema`,
  );
  const nested = (levels: number, leaf: Json): Json =>
    levels === 0 ? leaf : { kind: 'a', in: nested(levels - 1, leaf) };
  const tooMuch = { failure: { code: 'too_large', retryable: false } };

  test.each(dialects)('are refused where a schema leads to itself by two ways, by %s', async ($schema) => {
    const form = { type: 'object', required: ['in'], properties: { in: { $ref: '#/definitions/form' } } };
    const schema = {
      $schema,
      properties: { at: { $ref: '#/definitions/form' } },
      definitions: { form: { anyOf: [{ type: 'number' }, form, { ...form, minProperties: 1 }] } },
    };
    expect(await call(schema, { at: nested(8, 1) })).toMatchObject({ success: true });
    await expect(call(schema, { at: nested(24, 'x') })).rejects.toMatchObject(tooMuch);
    await expect(call(schema, { at: nested(4, 'x') })).rejects.toMatchObject({ failure: { code: 'invalid_message' } });
  });

  test('are refused, whatever they are, where a schema has twice as many of each part', async () => {
    const parts = Array.from({ length: 24 }, (_, at) => {
      const next = { $ref: `#/definitions/part${at + 1}` };
      return [`part${at}`, { allOf: [next, next] }];
    });
    const schema = {
      allOf: [{ $ref: '#/definitions/part0' }],
      definitions: { ...Object.fromEntries(parts), part24: {} },
    };
    await expect(call(schema, {})).rejects.toMatchObject(tooMuch);
  });

  test('have their first problem reported where only all of them are too many', async () => {
    const form = (kind: string) => ({
      type: 'object',
      required: ['kind', 'in'],
      properties: { kind: { const: kind }, in: { $ref: '#/definitions/form' } },
    });
    const schema = {
      properties: { at: { $ref: '#/definitions/form' } },
      definitions: { form: { anyOf: [{ type: 'number' }, form('a'), form('b')] } },
    };
    // Two for each level, as it is neither a number nor has b, and three for the last: not two to the power of levels.
    const refused = call(schema, { at: nested(24, 'x') });
    await expect(refused).rejects.toMatchObject({ failure: { code: 'invalid_message' } });
    const { failure } = (await refused.catch((error: unknown) => error)) as Refused;
    expect(failure.details.issues).toHaveLength(51);
  });

  test('are refused where a text is too long for its pattern', async () => {
    const schema = { properties: { at: { type: 'string', pattern: '[a-z.]{1,64}@x' } } };
    const text = (length: number) => ({ at: `${'a'.repeat(length)}@x` });
    expect(await call(schema, text(50_000))).toMatchObject({ success: true });
    await expect(call(schema, text(100_000))).rejects.toMatchObject(tooMuch);
    await expect(call(schema, text(100_000))).rejects.toThrow(/at most \d+ characters in one call; send shorter texts/);
    const short = { properties: { at: { ...schema.properties.at, maxLength: 10 } } };
    await expect(call(short, text(100_000))).rejects.toMatchObject({
      failure: { code: 'invalid_message', details: { issues: [{ code: 'too_long' }] } },
    });
  });

  test('are checked by a schema that names a large part of itself many times', async () => {
    const members = Array.from({ length: 300 }, (_, at) => [`m${at}`, { type: 'string', minLength: 1 }]);
    const schema = {
      definitions: { part: { type: 'object', properties: Object.fromEntries(members) } },
      properties: { at: { anyOf: Array.from({ length: 1_000 }, () => ({ $ref: '#/definitions/part' })) } },
    };
    expect(await call(schema, { at: { m299: 'x' } })).toMatchObject({ success: true });
    await expect(call(schema, { at: { m299: 1 } })).rejects.toMatchObject({ failure: { code: 'invalid_message' } });
  });

  test('are looked at as often as there are many of them', async () => {
    const item = { anyOf: [{ type: 'string' }, { $ref: '#/definitions/number' }] };
    const schema = {
      properties: { list: { items: { $ref: '#/definitions/item' } } },
      definitions: { item, number: { type: 'number' } },
    };
    expect(await call(schema, { list: Array.from({ length: 200_000 }, (_, n) => n + 1_000_000) })).toMatchObject({
      success: true,
    });
  });
});

describe('a list in which no item may be there twice', () => {
  const toolCall = (items?: JsonSchema): JsonSchema => ({
    properties: { list: { type: 'array', uniqueItems: true, ...(items && { items }) } },
  });
  const dialects = ['draft/2020-12', 'draft/2019-09', 'draft-07'].map(
    (name) => `https://json-schema.org/${name}/schema`,
  );

  test.each(dialects)('reports repeated items, by %s', async ($schema) => {
    const schema = { $schema, ...toolCall() };
    const twice = [1, '1', { a: 1, b: [0] }, true, '__proto__', null, { b: [0], a: 1 }];
    await expect(call(schema, { list: twice })).rejects.toMatchObject({
      failure: {
        details: {
          issues: [
            {
              pointer: '/arguments/list',
              code: 'repeated_item',
              message: 'list must not repeat items; items 2 and 6 are equal',
            },
          ],
        },
      },
    });
    expect(await call(schema, { list: twice.slice(0, -1) })).toMatchObject({ success: true });
    await expect(
      call({ $schema, ...toolCall({ type: 'string' }) }, { list: ['a', '__proto__', '__proto__'] }),
    ).rejects.toThrow();
    const unasked = { properties: { list: { uniqueItems: false } } };
    expect(await call({ $schema, ...unasked }, { list: [1, 1] })).toMatchObject({ success: true });
  });

  // Each with each would be 45,000,000,000 comparisons, and the server would not respond for minutes.
  test.each<[string, (n: number) => Json]>([
    ['texts', (n) => `x${n}`],
    ['objects', (n) => ({ n })],
  ])('may have as many of them as a message has room for: %s', async (_, item) => {
    const list = Array.from({ length: 300_000 }, (_, n) => item(n));
    expect(await call(toolCall(), { list })).toMatchObject({ success: true });
  });
});

function circle(): object {
  const one: Record<string, unknown> = {};
  one['itself'] = one;
  return { one };
}

function pair(keyword: string): JsonSchema {
  return { type: 'object', properties: { at: { type: 'array', [keyword]: [{ type: 'number' }, { type: 'number' }] } } };
}

test('a tag that is named a thousand times is looked for once', async () => {
  const tags = ['mcp'];
  let looks = 0;
  const counting = new Proxy(tags, {
    get(list, name) {
      if (name === 'includes') looks += 1;
      return Reflect.get(list, name);
    },
  });
  const tool = toolFrom({ name: 'it', input: {}, tags, run: () => 1 });
  const registry = new ToolRegistry({ clock: new TestClock() });
  registry.add(new FixedTools([{ ...tool, definition: { ...tool.definition, tags: counting } }]));
  expect(await registry.list(ADA, { tags: Array(1000).fill('mcp') })).toHaveLength(1);
  expect(await registry.list(ADA, { tags: ['mcp', 'other'] })).toEqual([]);
  expect(looks).toBe(1 + 2);
});

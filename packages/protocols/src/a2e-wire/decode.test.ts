import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { decodeWire, idAtStart, idOf } from './decode.ts';
import { completeMessage } from './defaults.ts';
import { withFields } from './new-message.ts';

describe('suggestions', () => {
  test.each([
    [{ type: 'tool/cal/req' }, 'did you mean "tool/call/req"?'],
    [{ type: 'env/state_push', episode_id: 'e', step_id: 0, event_type: 'x' }, 'send "env/state/push"'],
    [{ type: 'tool/call/req', arguments: {}, toolname: 'x' }, 'did you mean tool_name?'],
    [{ type: 'tool/call/req', arguments: {}, tool: 'x' }, 'did you mean tool_name?'],
    [{ type: 'ping', ts: undefined }, 'send ts, in seconds since 1970'],
  ])('%j: %s', (fields, suggestion) => {
    const outcome = decodeWire(withoutUndefined({ ...BASE, ...fields }), NOW);
    expect(outcome).toMatchObject({ ok: true, warnings: [{ suggestion }] });
  });

  test.each([
    [{ type: 'ping', ts: 1774699200250 }, 'ts is in seconds; divide milliseconds by 1000'],
    [{ type: 'chain/event', phase: 'strat' }, 'did you mean "start"?'],
    [{ type: 'ping', prototype: 1 }, 'remove prototype'],
  ])('%j: %s', (fields, suggestion) => {
    expect(decodeWire({ ...BASE, ...fields }, NOW)).toMatchObject({ ok: false, issues: [{ suggestion }] });
  });

  test('an unknown member of a request that changes something is refused with the members it may have', () => {
    const message = 'plan is not a field of planning/plan/create, which changes or deletes something';
    expect(decodeWire({ ...BASE, type: 'planning/plan/create', plan: {} }, NOW)).toMatchObject({
      ok: false,
      issues: [{ pointer: '/plan', message: `${message}; expected name, columns, description` }],
    });
  });

  test('an unstamped message is refused with the fix', () => {
    const outcome = decodeWire({ type: 'ping', id: 'x', ts: 1 }, NOW);
    expect(outcome).toMatchObject({ ok: false, issues: [{ suggestion: 'add "a2e": "1.0"' }] });
  });
});

test.each(['ping', 'xyz/req'])('a message of the type %s has only its known members', (type) => {
  const others = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`other${at}`, at]));
  const most = { ...BASE, type, ...others(25_000 - Object.keys({ ...BASE, type }).length) };
  expect(decodeWire(most, NOW)).toMatchObject({ ok: true, value: { other0: 0 } });
  expect(decodeWire({ ...most, more: 1 }, NOW)).toEqual({
    ok: false,
    issues: [{ pointer: '', code: 'too_many', message: 'the message must have at most 25000 members; got 25001' }],
  });
});

describe.each<[string, JsonObject]>([
  ['tool/call/req', { tool_name: 'echo', arguments: { message: 'hi' }, timeout: 5 }],
  ['tool/call/resp', { req_id: 'r', data: { success: true, tool_name: 'echo', duration_ms: 1.5 }, created_at: 2 }],
])('a very frequent message: %s', (type, fields) => {
  const whole = withFields(type, fields, { id: 'x', now: NOW }) as JsonObject;

  test('is taken as it is when it has all there is', () => {
    const outcome = decodeWire(whole, NOW);
    expect(outcome).toEqual({ ok: true, value: whole, warnings: [] });
    expect(outcome.ok && outcome.value).toBe(whole);
  });

  test('is completed by whatever it leaves out, also within', () => {
    for (const place of placesIn(whole)) {
      const left = without(place, whole);
      const outcome = decodeWire(left, NOW);
      // A required member is reported, a default is filled in, and an optional member is not mentioned.
      if (!outcome.ok) expect(outcome.issues[0]).toMatchObject({ code: 'required' });
      else expect(outcome.value).toEqual(completeMessage(type, left));
    }
  });

  test('is refused with a forbidden name, even if it is otherwise complete', () => {
    expect(decodeWire({ ...whole, prototype: 1 }, NOW)).toMatchObject({
      ok: false,
      issues: [{ pointer: '/prototype' }],
    });
  });

  test('is warned of where it has more, though it leaves out as much', () => {
    const name = type === 'tool/call/req' ? 'tool_name' : 'created_at';
    const outcome = decodeWire({ ...without([name], whole), [`${name}s`]: 1 }, NOW);
    expect(outcome).toMatchObject({ ok: true, value: { [`${name}s`]: 1 }, warnings: [{ code: 'unknown_field' }] });
  });
});

/** Every member of a message but its time, which is that of its arrival then, and of the object in it the protocol looks into. */
function placesIn({ ts, ...message }: JsonObject): string[][] {
  const within = message['type'] === 'tool/call/resp' ? Object.keys(message['data'] as JsonObject) : [];
  return [...Object.keys(message).map((name) => [name]), ...within.map((name) => ['data', name])];
}

function without([name = '', ...rest]: readonly string[], object: JsonObject): JsonObject {
  const { [name]: member, ...others } = object;
  return rest.length === 0 ? others : { ...others, [name]: without(rest, member as JsonObject) };
}

describe('lenient reading', () => {
  test('takes every value outside a closed set, however deep, and names each', () => {
    const feedbacks = [{ polarity: 'good', source: 'robot' }];
    const json = { ...BASE, type: 'learn/feedback/req', feedbacks };
    const outcome = decodeWire(json, NOW, { lenient: true });
    expect(outcome).toMatchObject({
      ok: true,
      value: { feedbacks },
      warnings: [
        { pointer: '/feedbacks/0/polarity', code: 'enum' },
        { pointer: '/feedbacks/0/source', code: 'enum' },
      ],
    });
  });

  test('does not take a wrong type or a missing field', () => {
    const outcome = decodeWire({ ...BASE, type: 'chain/req', nodes: [{ kind: 'loop' }], timeout: 'x' }, NOW, {
      lenient: true,
    });
    expect(outcome).toMatchObject({ ok: false, issues: [{ pointer: '/nodes/0/node_id' }, { pointer: '/timeout' }] });
  });
});

describe('the id an answer names', () => {
  test.each<[Json, string]>([
    [{ id: 'x' }, 'x'],
    [{ id: 7 }, ''],
    [{ id: 'x'.repeat(257) }, ''],
    [{ id: '🌍'.repeat(256) }, '🌍'.repeat(256)],
    [['x'], ''],
    [null, ''],
  ])('of %j is %j', (json, id) => {
    expect(idOf(json)).toBe(id);
  });
});

describe('the id of what cannot be read', () => {
  test.each([
    ['{"a2e":"1.0","version":"1.0","type":"tool/call/req","id":"x","ts":1,"arguments":{"a":NaN', 'x'],
    ['{"id":"x","type":"ping"', 'x'],
    [' { "skills" : "1.0" , "ts" : 1.5e9, "id" : "x" ,', 'x'],
  ])('is found near the start: %s', (text, id) => {
    expect(idAtStart(text)).toBe(id);
  });

  test.each([
    ['within something else', '{"a2e":"1.0","arguments":{"id":"x"},"id":"y"'],
    ['behind what may be anything', '{"a2e":"1.0","more":"\\"","id":"x"'],
    ['in a text', '{"type":"a\\",\\"id\\":\\"x\\"","id":"y"'],
    ['that is cut off', '{"a2e":"1.0","id":"abc'],
    ['with an escape', '{"id":"a\\u0062"'],
    ['that is longer than one may be', `{"id":"${'x'.repeat(257)}"`],
    ['with what was not text', '{"id":"\ufffd"'],
    ['that is not text', '{"id":7,"ts":1'],
    ['in a list', '[{"id":"x"}]'],
  ])('is not found %s', (_, text) => {
    expect(idAtStart(text)).toBe('');
  });

  test.each([' ', '"a2e":"1",', '"id" ', '{', '9'])('is looked for in what begins with very many %j', (part) => {
    expect(idAtStart(`{"ts":${part.repeat(1_000_000)}`)).toBe('');
    expect(idAtStart(`{${part.repeat(1_000_000)}`)).toBe('');
  });
});

test('a chunk of eight million characters is checked without a hitch', () => {
  const data = { chunk: 'QUJD'.repeat(2_000_000) };
  expect(decodeWire({ ...BASE, type: 'tool/event', kind: 'artifact', data }, NOW).ok).toBe(true);
  expect(decodeWire({ ...BASE, type: 'tool/event', kind: 'artifact', data: { chunk: `${data.chunk}!` } }, NOW).ok).toBe(
    false,
  );
});

test('a message of many strange names is not compared name by name', () => {
  const strange = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`tool_nam${index}`, 1]));
  const outcome = decodeWire({ ...BASE, type: 'tool/call/req', arguments: {}, ...strange }, NOW);
  expect(outcome.ok && outcome.warnings.length).toBe(16);
});

test('of a hundred thousand problems the first hundred are reported', () => {
  const outcome = decodeWire({ ...BASE, type: 'tool/list/req', filter_tags: Array(100_000).fill(1) }, NOW);
  expect(!outcome.ok && outcome.issues.length).toBe(101);
  expect(!outcome.ok && outcome.issues.at(-1)).toMatchObject({ pointer: '', code: 'more_problems' });
});

test('the given message is left as it was', () => {
  const json = { ...BASE, type: 'tool/list/resp', tools: [{ name: 'a' }] };
  const before = structuredClone(json);
  decodeWire(json, NOW);
  expect(json).toEqual(before);
});

function withoutUndefined(json: object): Json {
  return JSON.parse(JSON.stringify(json)) as Json;
}

const BASE = { a2e: '1.0', id: 'x', ts: 1774699200 };
const NOW = new Date('2026-03-28T12:00:30.000Z');

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Fixture, loadFixtures } from '../../../scripts/conformance.ts';
import type { Dialect, Stamp } from './dialect.ts';
import type { E2AEnvelope } from './e2a/envelope.ts';
import { newResponse } from './e2a/response.ts';
import { FAILURES, type FailureCode, failure } from './failure.ts';
import { isObject, type Json } from './json.ts';

export interface AcceptExpect {
  /** Members that `encode(decode(input))` must have. */
  readonly message?: Json;
  /** Exactly the warnings, in order. */
  readonly warnings?: readonly { readonly pointer: string; readonly code: string }[];
  /** Members of the envelope; `null` when the message never reaches an agent. */
  readonly envelope?: Json;
}

export interface RejectExpect {
  /** Exactly the problems found, in order. */
  readonly issues: readonly { readonly pointer: string; readonly code: string; readonly message?: string }[];
}

/** The contract of every dialect, for its conformance data and any other input. */
export function describeDialect<Message>(dialect: Dialect<Message>): void {
  const accepted = loadFixtures<AcceptExpect>(dialect.name, 'accept');
  const rejected = loadFixtures<RejectExpect>(dialect.name, 'reject');

  describe(`${dialect.name}: messages it accepts`, () => {
    test.each(accepted)('$name', (fixture) => {
      expect(dialect.recognizes(fixture.input), 'recognizes its own message').toBe(true);
      const message = decoded(dialect, fixture, fixture.input);
      const encoded = dialect.encode(message.value);
      if (fixture.expect.message !== undefined) expect(encoded).toMatchObject(fixture.expect.message as object);
      const found = message.warnings.map(({ pointer, code }) => ({ pointer, code }));
      expect(found).toEqual(fixture.expect.warnings ?? []);

      // A written message reads back unchanged and without warnings.
      const again = decoded(dialect, fixture, encoded);
      expect(again.value).toEqual(message.value);
      expect(dialect.encode(again.value)).toEqual(encoded);

      const envelope = dialect.toEnvelope(message.value);
      if (fixture.expect.envelope === null) expect(envelope).toBeUndefined();
      else if (fixture.expect.envelope !== undefined) {
        expect(envelope).toMatchObject(fixture.expect.envelope as object);
      }
      if (envelope !== undefined) keepsIds(dialect, fixture.input, envelope);
    });
  });

  describe(`${dialect.name}: messages it refuses`, () => {
    test.each(rejected)('$name', (fixture) => {
      const outcome = dialect.decode(fixture.input, timeOf(fixture), fixture.options);
      if (outcome.ok) expect.unreachable(`accepted ${JSON.stringify(dialect.encode(outcome.value))}`);
      const found = outcome.issues.map(({ pointer, code, message }, index) => {
        const wanted = fixture.expect.issues[index];
        return wanted?.message === undefined ? { pointer, code } : { pointer, code, message };
      });
      expect(found).toEqual(fixture.expect.issues);
      for (const issue of outcome.issues) expect(issue.message).not.toMatch(/undefined|\[object|Error:|NaN/);
    });
  });

  describe(`${dialect.name}: anything else`, () => {
    const prototype = Object.getOwnPropertyNames(Object.prototype).join();
    const survives = (json: Json) => {
      expect(typeof dialect.recognizes(json)).toBe('boolean');
      for (const lenient of [false, true]) {
        const outcome = dialect.decode(json, NOW, { lenient });
        if (outcome.ok) {
          const envelope = dialect.toEnvelope(outcome.value);
          if (envelope !== undefined) keepsIds(dialect, json, envelope);
          dialect.encode(outcome.value);
        } else {
          expect(outcome.issues.length).toBeGreaterThan(0);
        }
      }
      expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(prototype);
    };

    test('any JSON value decodes to an outcome without throwing', () => {
      fc.assert(
        fc.property(fc.jsonValue({ maxDepth: 4 }), (json) => survives(json as Json)),
        { numRuns: 300 },
      );
    });

    test('a valid message with anything changed decodes to an outcome without throwing', () => {
      const inputs = [...accepted, ...rejected].map((fixture) => fixture.input);
      fc.assert(
        fc.property(fc.constantFrom(...inputs), fc.gen(), (input, generate) => survives(mutated(input, generate))),
        { numRuns: 1000 },
      );
    });

    test('every failure has a message or none, and a written one is read back', () => {
      const request = accepted
        .map((fixture) => dialect.decode(fixture.input, timeOf(fixture), fixture.options))
        .map((outcome) => (outcome.ok ? dialect.toEnvelope(outcome.value) : undefined))
        .find((envelope) => envelope !== undefined);
      for (const code of Object.keys(FAILURES) as FailureCode[]) {
        for (const envelope of [request, undefined]) {
          const message = dialect.fromFailure(failure(code, { retry_after: 7 }), envelope, STAMP);
          if (message === undefined) continue;
          const outcome = dialect.decode(dialect.encode(message), NOW);
          expect(outcome, `${code} ${JSON.stringify(outcome)}`).toMatchObject({ ok: true, value: message });
        }
      }
    });
  });
}

/** Checks that an answer to the envelope, written in the dialect, names an id that the sender gave. */
function keepsIds<Message>(dialect: Dialect<Message>, input: Json, envelope: E2AEnvelope): void {
  const given = stringsIn(input);
  const ids = [envelope.request_id, envelope.message_id, envelope.jsonrpc_id, envelope.correlation_id]
    .filter((id) => id !== null)
    .map(String);
  for (const id of ids) expect(given, `the id ${id} was invented`).toContain(id);
  if (ids.length === 0) return;
  const answers = dialect.fromResponse(completeFor(envelope), envelope);
  for (const answer of answers) {
    const written = stringsIn(dialect.encode(answer));
    expect(
      ids.some((id) => written.has(id)),
      `none of ${ids} is in ${JSON.stringify(answer)}`,
    ).toBe(true);
    const outcome = dialect.decode(dialect.encode(answer), NOW);
    expect(outcome, 'the answer is a valid message').toMatchObject({ ok: true });
  }
}

/** The final frame an agent's answer ends with. */
function completeFor(envelope: E2AEnvelope) {
  return newResponse({
    response_id: '4f1d6a52-9d4e-4c5b-8a6f-2b7c3d1e0f9a',
    request_id: envelope.request_id,
    jsonrpc_id: envelope.jsonrpc_id,
    message_id: envelope.message_id,
    correlation_id: envelope.correlation_id,
    session_id: envelope.session_id,
    method: envelope.method,
    is_final: true,
    status: 'succeeded',
    response_kind: 'e2a.complete',
    timestamp: NOW.toISOString(),
    body: { result: { content: 'done' } },
  });
}

/** Every string and number in a value, as text. */
function stringsIn(json: Json): Set<string> {
  const found = new Set<string>();
  const visit = (value: Json): void => {
    if (typeof value === 'string') {
      found.add(value);
      // A workflow travels as JSON lines inside a string.
      for (const line of value.split('\n')) if (line.startsWith('{')) visitText(line);
    } else if (typeof value === 'number') found.add(String(value));
    else if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) Object.values(value).forEach(visit);
  };
  const visitText = (line: string): void => {
    try {
      visit(JSON.parse(line) as Json);
    } catch {
      // Text that only looks like JSON.
    }
  };
  visit(json);
  return found;
}

/** The value with one place changed, removed, renamed or added to. */
function mutated(json: Json, generate: fc.GeneratorValue): Json {
  const copy = structuredClone(json);
  const places: { holder: Json[] | { [key: string]: Json }; key: string }[] = [];
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      places.push({ holder: value, key });
      visit((value as { [key: string]: Json })[key] as Json);
    }
  };
  visit(copy);
  if (places.length === 0) return generate(fc.jsonValue) as Json;
  const { holder, key } = generate(() => fc.constantFrom(...places));
  const members = holder as { [key: string]: Json };
  const put = (name: string, value: Json) =>
    Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
  const change = generate(() => fc.constantFrom('value', 'text', 'remove', 'rename', 'add'));
  if (change === 'value') put(key, generate(fc.jsonValue) as Json);
  else if (change === 'text')
    put(
      key,
      generate(() => fc.string({ maxLength: 40 })),
    );
  else if (change === 'remove' && !Array.isArray(holder)) delete members[key];
  else {
    const value = members[key] as Json;
    const name = generate(() => fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'x', ''));
    if (change === 'rename' && !Array.isArray(holder)) delete members[key];
    if (Array.isArray(holder)) holder.push(value);
    else put(name, value);
  }
  return copy;
}

function decoded<Message>(dialect: Dialect<Message>, fixture: Fixture<unknown>, json: Json) {
  const outcome = dialect.decode(json, timeOf(fixture), fixture.options);
  if (!outcome.ok) expect.unreachable(`refused: ${JSON.stringify(outcome.issues)}`);
  return outcome;
}

function timeOf(fixture: Fixture<unknown>): Date {
  return fixture.now === undefined ? NOW : new Date(fixture.now);
}

/** The default time at which fixtures are read. */
const NOW = new Date('2026-03-28T12:00:30.000Z');
const STAMP: Stamp = { id: '0123456789abcdef0123456789abcdef', now: NOW };

import { FORBIDDEN_KEYS, forbiddenKeysIn } from '../forbidden-key.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo, segmentsOf } from '../pointer.ts';
import { show } from '../validation.ts';

/** The findings while one record is read on the slow path. */
export class Notes {
  readonly issues: Issue[] = [];
  readonly warnings: Issue[] = [];
  readonly lenient: boolean;

  constructor(lenient = false) {
    this.lenient = lenient;
  }

  refuse(issue: Issue): void {
    this.issues.push(issue);
  }

  /** Refuses a value of the wrong type in the field at `pointer`. */
  refuseType(pointer: string, expected: string, value: Json | undefined): void {
    const name = segmentsOf(pointer).at(-1) ?? '';
    this.refuse({ pointer, code: 'type', message: `${name} must be ${expected}; got ${show(value)}` });
  }

  warn(issue: Issue): void {
    this.warnings.push(issue);
  }

  /** Adds an error for a strict reader, a warning for a lenient one. */
  judge(issue: Issue): void {
    (this.lenient ? this.warnings : this.issues).push(issue);
  }
}

/** A record under repair. A map, because callers choose its keys. */
export type OpenRecord = Map<string, Json>;

/** The role of a top-level key; unlisted keys are kept in `extras`. */
export type KeyRoles = ReadonlyMap<string, 'field' | 'legacy' | 'forbidden'>;

export function keyRoles(fields: readonly string[], legacy: readonly string[]): KeyRoles {
  return new Map([
    ...legacy.map((key) => [key, 'legacy'] as const),
    ...[...FORBIDDEN_KEYS].map((key) => [key, 'forbidden'] as const),
    ...fields.map((key) => [key, 'field'] as const),
  ]);
}

/** The unknown keys, or `undefined` if a legacy or forbidden key needs a closer look. */
export function unknownKeys(json: JsonObject, roles: KeyRoles): readonly string[] | undefined {
  let unknown: string[] | undefined;
  for (const key in json) {
    const role = roles.get(key);
    if (role === 'field') continue;
    if (role !== undefined) return undefined;
    unknown ??= [];
    unknown.push(key);
  }
  return unknown ?? NO_KEYS;
}

export function pick(json: JsonObject, keys: readonly string[]): JsonObject {
  return keys.length === 0 ? {} : Object.fromEntries(keys.map((key) => [key, json[key] as Json]));
}

/** A warning for each unknown key that is probably a misspelt field. The key is kept like any other. */
export function misspelt(json: JsonObject, unknown: readonly string[], roles: KeyRoles): Issue[] {
  if (unknown.length === 0) return [];
  const absent = [...roles].filter(([key, role]) => role === 'field' && !Object.hasOwn(json, key)).map(([key]) => key);
  if (absent.length === 0) return [];
  // Bounded, because a comparison is quadratic in the key's length and a caller may send thousands of keys.
  return unknown.slice(0, MOST_COMPARED).flatMap((key): Issue[] => {
    const close = nearest(key, absent);
    if (close === undefined) return [];
    const message = `${key} is not a field of E2A; it is kept, but has no effect`;
    return [{ pointer: pointerTo('', key), code: 'unknown_field', message, suggestion: `did you mean ${close}?` }];
  });
}

export function refuseForbiddenKeys(value: Json | undefined, pointer: string, notes: Notes): void {
  if (!isObject(value)) return;
  for (const issue of forbiddenKeysIn(value, pointer)) notes.refuse(issue);
}

/** E2A 1.x is one protocol; another major version may mean something else by the same fields. */
export function isKnownVersion(version: unknown): boolean {
  return version === undefined || version === '1.0' || (typeof version === 'string' && /^1\.\d{1,4}$/.test(version));
}

export function checkVersion(record: OpenRecord, notes: Notes): void {
  const version = record.get('protocol_version');
  if (typeof version !== 'string' || isKnownVersion(version)) return;
  notes.judge({
    pointer: '/protocol_version',
    code: 'version',
    message: `protocol_version must be 1.0 or another 1.x; got ${show(version)}`,
    suggestion: 'send "1.0"',
  });
}

/** The issue for a value that is not a record, or not the expected kind of record. */
export function notE2A(json: Json): Issue {
  const { got, suggestion } = isObject(json) ? otherShape(json) : { got: show(json), suggestion: SEND_ONE };
  const message = `the message must be an E2A envelope or response; got ${got}`;
  return { pointer: '', code: 'not_e2a', message, suggestion };
}

function otherShape(json: JsonObject): { got: string; suggestion: string } {
  const has = (key: string) => Object.hasOwn(json, key);
  if (has('jsonrpc')) return { got: 'a JSON-RPC message', suggestion: 'read it with envelopeFromAcpJsonrpc' };
  if (has('response_kind')) return { got: 'a response where an envelope belongs', suggestion: SEND_ONE };
  if (has('method')) return { got: 'an envelope where a response belongs', suggestion: SEND_ONE };
  return has('params')
    ? { got: 'an object with params and no method', suggestion: 'add "method": "chat.send" to send params to an agent' }
    : { got: 'an object with neither method nor response_kind', suggestion: SEND_ONE };
}

const SEND_ONE = 'send an object with request_id, method and params, or with response_kind and body';
const MOST_COMPARED = 16;
const NO_KEYS: readonly string[] = [];

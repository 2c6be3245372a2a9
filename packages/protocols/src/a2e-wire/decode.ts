import type { DecodeOptions } from '../dialect.ts';
import { forbiddenKeysIn } from '../forbidden-key.ts';
import * as validators from '../generated/a2e-wire.js';
import * as often from '../generated/a2e-wire-often.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Often } from '../often.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import type { JsonSchema } from '../schema.ts';
import { issuesOf, show, type Validator } from '../validation.ts';
import { completeMessage } from './defaults.ts';
import { EVENT_DATA, type EventKind, isId, STAMPS, WIRE_VERSION, WireBaseMessage } from './message.ts';
import { nearestType } from './nearest-type.ts';
import { aliasOf, KNOWN_TYPES, type KnownType, type WireMessage } from './type-map.ts';

/**
 * Reads one message: a known type is checked and completed with its defaults, an unknown one is kept whole (A2E wire,
 * Decoding). Members a type does not have are kept too, except in a request that changes or deletes something.
 */
export function decodeWire(json: Json, now: Date, options: DecodeOptions = {}): Outcome<WireMessage> {
  if (!isObject(json)) {
    return reject({ pointer: '', code: 'type', message: `the message must be an object; got ${show(json)}` });
  }
  const reader = typeof json['type'] === 'string' ? readers.get(json['type']) : undefined;
  if (reader !== undefined && isSound(json, reader)) {
    // A message with exactly the known fields needs neither defaults nor warnings.
    if (reader.isWhole(json)) return accept(json as unknown as WireMessage);
    if (hasFieldsOnly(json, reader)) return accept(completeMessage(reader.row.type, json));
  }
  return readClosely(json, now, options);
}

/** The id for the answer to this message, even if it is invalid. */
export function idOf(json: Json): string {
  const id = isObject(json) && Object.hasOwn(json, 'id') ? json['id'] : undefined;
  return typeof id === 'string' && isId(id) ? id : '';
}

/**
 * The id for the answer to an unreadable message, from the beginning of its text, so that its sender need not wait for
 * a timeout. Only an id that is among the first members of a message is reported; after any other member it could
 * belong to a nested object.
 */
export function idAtStart(text: string): string {
  const [, id = ''] = ID_AT_START.exec(text) ?? [];
  return isId(id) && !id.includes('\ufffd') ? id : '';
}

/** Whether a type is of the older set of subagent messages, which have neither id nor time. */
export function isLegacyType(type: unknown): boolean {
  return typeof type === 'string' && LEGACY_TYPE.test(type);
}

/** The data for reading a known type, computed once. */
interface Reader {
  readonly row: KnownType;
  readonly validate: Validator;
  /** The names of its fields and of the base ones. */
  readonly fields: ReadonlySet<string>;
  /**
   * A quick check that a message has all of these fields and no others; always false for a type without a generated
   * check.
   */
  readonly isWhole: Often['isWhole'];
}

/** Whether a message is valid, except for missing fields that have defaults. */
function isSound(json: JsonObject, reader: Reader): boolean {
  const { a2e, version } = json;
  if (a2e === undefined ? version !== WIRE_VERSION : a2e !== WIRE_VERSION) return false;
  if (version !== undefined && version !== WIRE_VERSION) return false;
  if (json['ts'] === undefined || !reader.validate(json)) return false;
  return dataIssues(json, reader.row) === NONE && (reader.row.check?.(json) ?? NONE).length === 0;
}

/** Whether every member is a field of the type. */
function hasFieldsOnly(json: JsonObject, { fields }: Reader): boolean {
  for (const key in json) if (!fields.has(key)) return false;
  return true;
}

/** Returns all problems, or the message with its warnings. */
function readClosely(given: JsonObject, now: Date, { lenient = false }: DecodeOptions): Outcome<WireMessage> {
  const members = Object.keys(given).length;
  // The number of members is limited because unknown fields are kept.
  if (members > MOST_MEMBERS) {
    const message = `the message must have at most ${MOST_MEMBERS} members; got ${members}`;
    return reject({ pointer: '', code: 'too_many', message });
  }
  const { json, warnings } = withOurType(given);
  const reader = typeof json['type'] === 'string' ? readers.get(json['type']) : undefined;
  const issues: Issue[] = forbiddenKeysIn(json, '');
  const stamps = stampIssues(json, reader);
  const wrong = reader === undefined ? baseIssues(json) : fieldIssues(json, reader);
  for (const issue of [...stamps, ...wrong]) (isTolerated(issue, lenient) ? warnings : issues).push(issue);
  if (reader?.row.changes === true) issues.push(...unknownMembers(json, reader));
  if (issues.length > 0) return { ok: false, issues };

  const type = String(json['type']);
  const ours = { ...json, a2e: WIRE_VERSION, version: WIRE_VERSION };
  warnings.push(...(reader === undefined ? [unknownType(type)] : slips(json, reader)));
  if (json['ts'] !== undefined || isLegacyType(type)) return accept(completeMessage(type, ours), warnings);
  const message = 'ts is missing; the time of arrival is used';
  warnings.push({ pointer: '/ts', code: 'filled', message, suggestion: 'send ts, in seconds since 1970' });
  return accept(completeMessage(type, { ...ours, ts: now.getTime() / 1000 }), warnings);
}

/** The message under our spelling of its type. */
function withOurType(json: JsonObject): { json: JsonObject; warnings: Issue[] } {
  const type = json['type'];
  const ours = typeof type === 'string' ? aliasOf(type) : undefined;
  if (ours === undefined) return { json, warnings: [] };
  const message = `type ${show(type)} is read as ${show(ours)}`;
  const warning = { pointer: '/type', code: 'legacy_type', message, suggestion: `send ${show(ours)}` };
  return { json: { ...json, type: ours }, warnings: [warning] };
}

/** A message needs at least one version stamp, and none of another major version. */
function stampIssues(json: JsonObject, reader: Reader | undefined): Issue[] {
  const issues: Issue[] = [];
  let found = false;
  for (const name of STAMPS) {
    const value = Object.hasOwn(json, name) ? json[name] : undefined;
    // `skills` is a stamp of SCP only if it is a text, and not a field of the type as in skill/discover/resp.
    if (typeof value !== 'string') continue;
    if (name === 'skills' && reader?.fields.has(name)) continue;
    found = true;
    if (value === WIRE_VERSION) continue;
    if (OUR_MAJOR.test(value)) {
      const message = `${name} ${show(value)} is read as ${show(WIRE_VERSION)}`;
      issues.push({ pointer: `/${name}`, code: 'coerced', message });
    } else {
      const message = `${name} must be a 1.x version such as ${show(WIRE_VERSION)}; got ${show(value)}`;
      issues.push({ pointer: `/${name}`, code: 'version_mismatch', message });
    }
  }
  // The schema reports a stamp that is not a text.
  if (!found && !Object.hasOwn(json, 'a2e') && !Object.hasOwn(json, 'version')) {
    const suggestion = `add "a2e": "${WIRE_VERSION}"`;
    issues.push({ pointer: '/a2e', code: 'required', message: 'a2e is required but missing', suggestion });
  }
  return issues;
}

function fieldIssues(json: JsonObject, { row, validate }: Reader): readonly Issue[] {
  const issues = [...issuesOf(validate, row.schema, json).map(withHint), ...dataIssues(json, row)];
  return issues.length > 0 ? issues : (row.check?.(json) ?? NONE);
}

/** For an unknown type only the base fields are known; the older subagent messages lack even these. */
function baseIssues(json: JsonObject): readonly Issue[] {
  const issues = issuesOf(validators.BaseMessage, WireBaseMessage, json).map(withHint);
  if (!isLegacyType(json['type'])) return issues;
  return issues.filter(({ pointer, code }) => pointer !== '/type' && code !== 'required');
}

/** The problems of an event's data, which must have the form of its kind. */
function dataIssues(json: JsonObject, row: KnownType): readonly Issue[] {
  if (row.typedData !== true || !isObject(json['data'])) return NONE;
  const kind = json['kind'] ?? 'status';
  if (typeof kind !== 'string' || !Object.hasOwn(EVENT_DATA, kind)) return NONE;
  const validate = DATA_VALIDATORS[kind as EventKind];
  if (validate(json['data'])) return NONE;
  return issuesOf(validate, EVENT_DATA[kind as EventKind], json['data']).map((issue) => ({
    ...issue,
    pointer: `/data${issue.pointer}`,
  }));
}

function withHint(issue: Issue): Issue {
  if (issue.pointer !== '/ts' || issue.code !== 'too_large') return issue;
  return { ...issue, suggestion: 'ts is in seconds; divide milliseconds by 1000' };
}

function unknownType(type: string): Issue {
  const close = nearestType(type);
  const message = `type ${show(type)} is unknown; its fields were not checked`;
  return {
    pointer: '/type',
    code: 'unknown_type',
    message,
    ...(close && { suggestion: `did you mean ${show(close)}?` }),
  };
}

/** Unknown members are kept; one that looks like a missing field is probably a typing error. */
function slips(json: JsonObject, reader: Reader): Issue[] {
  return slipsAmong(json, reader, (field) => !Object.hasOwn(json, field)).map(({ member, field }) => ({
    pointer: pointerTo('', member),
    code: 'unknown_field',
    message: `${member} is not a field of ${String(json['type'])}; it is kept, and ${field} takes its default`,
    suggestion: `did you mean ${field}?`,
  }));
}

/** Unknown members of a request that changes or deletes something are refused, because their meaning is unknown. */
function unknownMembers(json: JsonObject, reader: Reader): Issue[] {
  const stray = Object.keys(json).filter((key) => !reader.fields.has(key) && !ALSO_ALLOWED.has(key));
  if (stray.length === 0) return [];
  const meant = new Map(slipsAmong(json, reader, () => true).map(({ member, field }) => [member, field]));
  const known = [...reader.fields].filter((field) => !ON_EVERY_MESSAGE.has(field)).join(', ') || 'none';
  return stray.slice(0, MOST_SLIPS).map((member) => {
    const field = meant.get(member);
    return {
      pointer: pointerTo('', member),
      code: 'unknown_field',
      message: `${member} is not a field of ${String(json['type'])}, which changes or deletes something; expected ${known}`,
      suggestion: field === undefined ? `remove ${member}` : `did you mean ${field}?`,
    };
  });
}

/** An unknown member, and the field that is probably meant. */
export interface Slip {
  readonly member: string;
  readonly field: string;
}

/** The misspelled members of a decoded message, in which missing fields already have their defaults. */
export function slipsIn(message: WireMessage): readonly Slip[] {
  const reader = readers.get(message.type);
  if (reader === undefined) return [];
  const { properties } = reader.row.schema as { properties: Readonly<Record<string, JsonSchema>> };
  return slipsAmong(message as JsonObject, reader, (field) => message[field] === properties[field]?.['default']);
}

function slipsAmong(json: JsonObject, { fields }: Reader, isMissing: (field: string) => boolean): Slip[] {
  const missing = [...fields].filter((field) => isMissing(field) && !STAMP_NAMES.has(field));
  const unknown = Object.keys(json).filter((key) => !fields.has(key) && !STAMP_NAMES.has(key));
  // Comparing is slow, so the number of checked members is bounded.
  return unknown.slice(0, MOST_SLIPS).flatMap((member) => {
    const field = nearest(member, missing) ?? fieldWith(member, missing);
    return field === undefined ? [] : { member, field };
  });
}

/** Other protocols use `tool` or `name` for `tool_name`. */
function fieldWith(word: string, fields: readonly string[]): string | undefined {
  const found = fields.filter((field) => field.split('_').includes(word.toLowerCase()));
  return found.length === 1 ? found[0] : undefined;
}

/** Other minor versions are accepted; lenient reading also accepts values outside closed sets and missing stamps. */
function isTolerated({ code, pointer }: Issue, lenient: boolean): boolean {
  if (code === 'coerced') return true;
  return lenient && (code === 'enum' || (code === 'required' && pointer === '/a2e'));
}

const NONE: readonly Issue[] = [];
const MOST_SLIPS = 16;
const MOST_MEMBERS = 25_000;
const STAMP_NAMES: ReadonlySet<string> = new Set(STAMPS);
/** Members that every request may have in addition to its fields. */
const ALSO_ALLOWED: ReadonlySet<string> = new Set([...STAMPS, 'session_id', 'correlation_id', 'streaming']);
const ID_AT_START =
  /^\s{0,9}\{(?:\s{0,9}"(?:a2e|version|skills|scp|type|ts)"\s{0,9}:\s{0,9}(?:"[^"\\]{0,256}"|[-+.\deE]{1,32})\s{0,9},){0,6}\s{0,9}"id"\s{0,9}:\s{0,9}"([^"\\]{1,512})"/;
const OUR_MAJOR = /^1(?:\.\d{1,9}){0,2}$/;
const ON_EVERY_MESSAGE: ReadonlySet<string> = new Set([...STAMPS, 'type', 'id', 'ts']);
const LEGACY_TYPE = /^SUBAGENT_[A-Z0-9_]{1,64}$/;

const DATA_VALIDATORS: Readonly<Record<EventKind, Validator>> = {
  progress: validators.ProgressData,
  artifact: validators.ArtifactData,
  log: validators.LogData,
  status: validators.StatusData,
};

const compiled: Readonly<Record<string, Validator>> = validators;
/** Generated code for frequent types, by the name of their validator. */
const OFTEN: Readonly<Record<string, Often>> = often;
const readers: ReadonlyMap<string, Reader> = new Map(KNOWN_TYPES.map((row) => [row.type, readerOf(row)]));

function readerOf(row: KnownType): Reader {
  const validate = compiled[row.validator];
  if (validate === undefined) throw new Error(`no validator was compiled for ${row.type}`);
  const fields = Object.keys((row.schema as { properties: object }).properties);
  const isWhole = Object.hasOwn(OFTEN, row.validator) ? OFTEN[row.validator]?.isWhole : undefined;
  return {
    row,
    validate,
    fields: new Set([...Object.keys(WireBaseMessage.properties), ...fields]),
    isWhole: isWhole ?? (() => false),
  };
}

import { isEmpty } from '../holds-something.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { pointerTo } from '../pointer.ts';
import type { Notes, OpenRecord } from './read-record.ts';
import { RESERVED_METADATA_KEYS } from './reserved-keys.ts';

export const LEGACY_ENVELOPE_KEYS = [
  'channel_id',
  'req_method',
  'workspace_dir',
  'payload',
  'metadata',
  'app_id',
  'binding',
] as const;

export const LEGACY_RESPONSE_KEYS = ['channel_id', 'binding'] as const;

/** Moves the values of legacy keys to the current fields (E2A §9, §10), with a warning for each. */
export function migrateEnvelopeKeys(record: OpenRecord, notes: Notes): void {
  rename(record, 'channel_id', 'channel', notes);
  rename(record, 'req_method', 'method', notes);
  rename(record, 'workspace_dir', 'workspace_key', notes);
  mergePayload(record, notes);
  mergeMetadata(record, notes);
  mergeAppId(record, notes);
  migrateBinding(record, notes);
}

export function migrateResponseKeys(record: OpenRecord, notes: Notes): void {
  rename(record, 'channel_id', 'channel', notes);
  migrateBinding(record, notes);
}

/** Removes the keys that only a server may set from a request. */
export function dropReservedKeys(record: OpenRecord, field: string, notes: Notes): void {
  const members = record.get(field);
  if (!isObject(members)) return;
  const kept = Object.entries(members).filter(([key]) => !isForged(key, field, notes));
  record.set(field, Object.fromEntries(kept));
}

/** The old name counts only if the new one is missing. */
function rename(record: OpenRecord, from: string, to: string, notes: Notes): void {
  const value = take(record, from, to, notes);
  if (value === undefined || value === null) return;
  if (typeof value !== 'string') notes.refuseType(pointerTo('', from), 'a string or null', value);
  else if ((record.get(to) ?? null) === null) record.set(to, value);
}

/** E2A §9: adds the keys of `payload` that `params` does not have; empty values are ignored. */
function mergePayload(record: OpenRecord, notes: Notes): void {
  const payload = takeObject(record, 'payload', 'params', notes);
  const news = Object.entries(payload ?? {}).filter(([, value]) => !isEmpty(value));
  addMissing(record, 'params', Object.fromEntries(news));
}

/** Adds every key of `metadata` that `channel_context` does not have, except those that only a server may set. */
function mergeMetadata(record: OpenRecord, notes: Notes): void {
  const metadata = takeObject(record, 'metadata', 'channel_context', notes);
  const kept = Object.entries(metadata ?? {}).filter(([key]) => !isForged(key, 'metadata', notes));
  addMissing(record, 'channel_context', Object.fromEntries(kept));
}

function mergeAppId(record: OpenRecord, notes: Notes): void {
  const value = take(record, 'app_id', 'channel_context.app_id', notes);
  if (value !== undefined && value !== null) addMissing(record, 'channel_context', { app_id: value });
}

/**
 * E2A §4.2: `binding` is noted in `provenance.details`, and names the source if `source_protocol` has only its default.
 */
function migrateBinding(record: OpenRecord, notes: Notes): void {
  const binding = take(record, 'binding', 'provenance.source_protocol', notes);
  if (binding === undefined || binding === null) return;
  const value = isObject(binding) && Object.hasOwn(binding, 'value') ? binding['value'] : binding;
  if (typeof value !== 'string') {
    notes.refuseType(pointerTo('', 'binding'), 'a string or an object with a string value', value);
    return;
  }
  const given = record.get('provenance') ?? {};
  if (!isObject(given)) return;
  const details = given['details'] ?? {};
  if (!isObject(details) || (details['migrated_from_binding'] ?? null) !== null) return;
  const source = given['source_protocol'] ?? 'e2a';
  record.set('provenance', {
    ...given,
    source_protocol: source === 'e2a' && (value === 'acp' || value === 'a2a') ? value : source,
    details: { ...details, migrated_from_binding: value },
  });
}

/** Removes the old key, with a suggestion. */
function take(record: OpenRecord, key: string, replacement: string, notes: Notes): Json | undefined {
  const value = record.get(key);
  if (!record.delete(key)) return undefined;
  const message = `${key} is a legacy key; use ${replacement}`;
  notes.warn({ pointer: pointerTo('', key), code: 'legacy_key', message, suggestion: `send ${replacement}` });
  return value;
}

function takeObject(record: OpenRecord, key: string, replacement: string, notes: Notes): JsonObject | undefined {
  const value = take(record, key, replacement, notes);
  if (value === undefined || value === null) return undefined;
  if (isObject(value)) return value;
  notes.refuseType(pointerTo('', key), 'an object', value);
  return undefined;
}

/** Adds the members that a field does not have. A key with the value null counts as present. */
function addMissing(record: OpenRecord, field: string, members: JsonObject): void {
  if (Object.keys(members).length === 0) return;
  const present = record.get(field) ?? {};
  // A value that is not an object stays, so that the schema refuses it.
  if (isObject(present)) record.set(field, { ...members, ...present });
}

function isForged(key: string, field: string, notes: Notes): boolean {
  if (!RESERVED_METADATA_KEYS.includes(key)) return false;
  const message = `${key} may only be set by a server; it was left out`;
  notes.warn({ pointer: pointerTo('', field, key), code: 'reserved_key', message, suggestion: `remove ${key}` });
  return true;
}

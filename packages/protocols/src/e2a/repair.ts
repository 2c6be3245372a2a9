import { isObject, type Json } from '../json.ts';
import { pointerTo } from '../pointer.ts';
import { parseTimestamp } from '../time.ts';
import { show } from '../validation.ts';
import type { Notes, OpenRecord } from './read-record.ts';

/** The result of a repair; `value: undefined` means the field's default. */
interface Repaired {
  readonly value: Json | undefined;
  /** The expected form, worded to follow the field's name. */
  readonly expected: string;
}

/** Corrects an unsuitable value; `undefined` leaves it to the schema. */
export type Repair = (value: Json, lenient: boolean) => Repaired | undefined;

/** Applies to each field the first of its repairs that returns a result, and reports what changed. */
export function repair(record: OpenRecord, repairs: Readonly<Record<string, readonly Repair[]>>, notes: Notes): void {
  for (const [field, attempts] of Object.entries(repairs)) {
    const value = record.get(field);
    if (value === undefined) continue;
    for (const attempt of attempts) {
      const repaired = attempt(value, notes.lenient);
      if (repaired === undefined) continue;
      if (repaired.value === undefined) record.delete(field);
      else record.set(field, repaired.value);
      const readAs = repaired.value === undefined ? 'its default' : show(repaired.value);
      const message = `${field} ${repaired.expected}; got ${show(value)}, read as ${readAs}`;
      notes.warn({ pointer: pointerTo('', field), code: 'coerced', message });
      break;
    }
  }
}

/** Null means "not given" if the field cannot be null. */
export const nullIsDefault: Repair = (value) =>
  value === null ? { value: undefined, expected: 'should be left out rather than null' } : undefined;

/** Reads epoch seconds, with or without fractions, which the legacy shapes have (E2A §4.3). */
export const epochSeconds: Repair = (value) => {
  const text = typeof value === 'number' ? rfc3339Of(value) : undefined;
  return text === undefined ? undefined : { value: text, expected: RFC_3339 };
};

/** A lenient reader reads a time without a zone as UTC, and leaves out an invalid time. */
export const looseTimestamp: Repair = (value, lenient) => {
  if (!lenient || typeof value !== 'string' || parseTimestamp(value) !== undefined) return undefined;
  const utc = `${value.trim().replace(' ', 'T')}Z`;
  return { value: parseTimestamp(utc) === undefined ? undefined : utc, expected: RFC_3339 };
};

/** Trims an id that is compared as trimmed text; a blank id becomes null. */
export const trimmedText: Repair = (value) => {
  if (typeof value !== 'string' || isTrimmed(value)) return undefined;
  const text = value.trim();
  return { value: text === '' ? null : text, expected: 'should be trimmed and not blank' };
};

export function isTrimmed(value: string): boolean {
  return value !== '' && value.trim() === value;
}

/** A lenient reader accepts a number as an id, because peers route by its text anyway. */
export const numberAsText: Repair = (value, lenient) =>
  lenient && Number.isSafeInteger(value) ? { value: String(value), expected: 'should be a string' } : undefined;

/** A lenient reader takes the default for a value outside a closed set. */
export function oneOf(allowed: readonly string[]): Repair {
  return (value, lenient) =>
    !lenient || (typeof value === 'string' && allowed.includes(value))
      ? undefined
      : { value: undefined, expected: `should be one of ${allowed.join(', ')}` };
}

/** A lenient reader reads one string as a list with one item. */
export const oneStringAsList: Repair = (value, lenient) =>
  lenient && typeof value === 'string' ? { value: [value], expected: 'should be an array of strings' } : undefined;

/** A lenient reader reads "3" as 3, and anything else that is not a valid sequence as the default, 0. */
export const looseSequence: Repair = (value, lenient) => {
  if (!lenient || (Number.isInteger(value) && Number(value) >= -1)) return undefined;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  return { value: number, expected: 'should be an integer from 0' };
};

/** A lenient reader takes the default for a value that is not an object. */
export const notARecord: Repair = (value, lenient) =>
  lenient && !isObject(value) ? { value: undefined, expected: 'should be an object' } : undefined;

/** Leaves out the members of a nested record that are null but must not be. */
export function withoutNulls(...names: readonly string[]): Repair {
  return (value) => {
    if (!isObject(value)) return undefined;
    const nulls = names.filter((name) => Object.hasOwn(value, name) && value[name] === null);
    if (nulls.length === 0) return undefined;
    const kept = Object.entries(value).filter(([name]) => !nulls.includes(name));
    return { value: Object.fromEntries(kept), expected: `should leave ${nulls.join(' and ')} out rather than null` };
  };
}

/** RFC 3339 has four digits for the year; other years cannot be written. */
function rfc3339Of(seconds: number): string | undefined {
  const milliseconds = Math.round(seconds * 1000);
  if (!(milliseconds >= EARLIEST && milliseconds <= LATEST)) return undefined;
  return new Date(milliseconds).toISOString();
}

const RFC_3339 = 'should be an RFC 3339 time in UTC';
const EARLIEST = -62_167_219_200_000;
const LATEST = 253_402_300_799_999;

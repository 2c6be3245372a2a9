import { FORBIDDEN_KEYS, forbiddenKey } from '../forbidden-key.ts';
import type { JsonObject } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { clip, MORE_PROBLEMS, MOST_PROBLEMS } from '../validation.ts';
import { MailboxMessage } from './message.ts';

/** A part of a message whose field names are checked. */
export type Part = keyof typeof FIELDS;

/**
 * Adds the problems with the field names of one part, and a warning for each field that is empty and so means "none".
 */
export function fieldsOf(part: Part, members: JsonObject, found: Issue[]): void {
  const known = FIELDS[part];
  let unknown = 0;
  for (const key in members) {
    if (known.has(key)) {
      if (members[key] === '') found.push(emptyText(pointerTo(part, key), key));
    } else if (FORBIDDEN_KEYS.has(key)) found.push(forbiddenKey(pointerTo(part, key)));
    // "Custom fields allowed", in metadata.
    else if (part !== '/metadata' && ++unknown <= MOST_PROBLEMS) found.push(unknownField(part, key));
  }
  if (unknown > MOST_PROBLEMS) found.push(MORE_PROBLEMS);
  if (part === '/metadata') found.push(...fieldSlipsIn(members));
}

/** A warning for each custom field that looks like a misspelled field. It is kept. */
export function fieldSlipsIn(metadata: JsonObject): readonly Issue[] {
  let slips: Issue[] | undefined;
  let compared = 0;
  for (const key in metadata) {
    if (FIELDS['/metadata'].has(key)) continue;
    // Comparing is slow, so the number of checked fields is bounded.
    if (++compared > MOST_SLIPS) break;
    const alike = META.filter((field) => metadata[field] === undefined && isAlike(key, field));
    const close = alike.length === 0 ? undefined : nearest(key, alike);
    if (close === undefined) continue;
    slips ??= [];
    const message = `${clip(key)} is not a known metadata field; it is kept as a custom field`;
    const suggestion = `did you mean ${close}?`;
    slips.push({ pointer: pointerTo('/metadata', key), code: 'likely_slip', message, suggestion });
  }
  return slips ?? NONE;
}

/** A coarse comparison, which runs for every custom field before whole words are compared. */
function isAlike(key: string, field: string): boolean {
  if (Math.abs(key.length - field.length) > 2) return false;
  return (key.charCodeAt(0) | LOWER) === (field.charCodeAt(0) | LOWER);
}

function emptyText(pointer: string, key: string): Issue {
  const message = `${key} is empty and treated as absent`;
  return { pointer, code: 'coerced', message, suggestion: `leave out ${key}` };
}

function unknownField(part: Part, key: string): Issue {
  const where = part === '' ? 'a message' : part.slice(1);
  const message = `${clip(key)} is not a field of ${where}; expected ${[...FIELDS[part]].join(', ')}`;
  return { pointer: pointerTo(part, key), code: 'unknown_field', message, suggestion: fixing(part, key) };
}

function fixing(part: Part, key: string): string {
  const close = nearest(key, FIELDS[part]);
  if (close !== undefined) return `did you mean ${close}?`;
  for (const home of HOMES) {
    const field = nearest(key, FIELDS[home]);
    if (field !== undefined) return `move it to ${home.slice(1)}.${field}`;
  }
  return `put ${clip(key)} into metadata, or leave it out`;
}

const { from, to, message, metadata } = MailboxMessage.properties;
const FIELDS = {
  '': namesIn(MailboxMessage.properties),
  '/from': namesIn(from.properties),
  '/to': namesIn(to.properties),
  '/message': namesIn(message.properties),
  '/metadata': namesIn(metadata.properties),
} as const;

const META = [...FIELDS['/metadata']];
const LOWER = 0x20;
const NONE: readonly Issue[] = [];
const MOST_SLIPS = 16;

/** The parts in which a misplaced field may belong, the most likely first. */
const HOMES = ['/metadata', '/message', '/from'] as const;

function namesIn(properties: object): ReadonlySet<string> {
  return new Set(Object.keys(properties));
}

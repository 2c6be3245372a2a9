import { FORBIDDEN_KEYS, forbiddenKey } from '../forbidden-key.ts';
import type { JsonObject } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { clip, MORE_PROBLEMS, MOST_PROBLEMS } from '../validation.ts';
import { MailboxMessage } from './message.ts';

/** A part of a message whose field names we look at. */
export type Part = keyof typeof FIELDS;

/** What is wrong with the names of one part's fields, and which of them are there only to say "none". */
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
}

function emptyText(pointer: string, key: string): Issue {
  const message = `${key} is empty and taken as not given`;
  return { pointer, code: 'coerced', message, suggestion: `leave out ${key}` };
}

function unknownField(part: Part, key: string): Issue {
  const where = part === '' ? 'a message' : part.slice(1);
  const message = `${clip(key)} is not a field of ${where}; expected ${[...FIELDS[part]].join(', ')}`;
  return { pointer: pointerTo(part, key), code: 'unknown_field', message, suggestion: mending(part, key) };
}

function mending(part: Part, key: string): string {
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

/** Where a field that strayed most likely belongs. */
const HOMES = ['/metadata', '/message', '/from'] as const;

function namesIn(properties: object): ReadonlySet<string> {
  return new Set(Object.keys(properties));
}

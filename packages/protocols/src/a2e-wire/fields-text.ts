import { oneLineJson, quotedText, standsAsItIs } from '../framing/one-line-json.ts';
import * as often from '../generated/a2e-wire-often.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { FieldsWriter, Often, ValueWriting } from '../often.ts';
import type { JsonSchema } from '../schema.ts';

import { type KnownType, lookup } from './type-map.ts';

/**
 * The fields of a known type as members of a JSON object, each with a comma before it. Defaults are included. An
 * answer's `req_id` is not, because it is written separately. `undefined` if the members are not exactly the fields of
 * the type; then use `completeFields` and `JSON.stringify`.
 */
export function fieldsText(type: string, fields: JsonObject, { isAnswer }: { isAnswer: boolean }): string | undefined {
  const known = isAnswer ? answerWriters : fieldWriters;
  let write = known.get(type);
  if (write === undefined) {
    const row = lookup(type);
    if (row === undefined) return undefined;
    write = writerOf(row, isAnswer);
    known.set(type, write);
  }
  return write(fields, VALUES);
}

/** The generated writer of the schema, or a generic one. */
function writerOf({ validator, role, schema }: KnownType, isAnswer: boolean): FieldsWriter {
  const made = Object.hasOwn(OFTEN, validator) ? OFTEN[validator] : undefined;
  if (made !== undefined && isAnswer === (role === 'answer')) return made.write;
  const members = membersOf(schema, isAnswer ? 'req_id' : '');
  return (fields) => {
    const text = members === undefined ? undefined : membersText(fields, members);
    return text === undefined || text === '' ? text : `,${text}`;
  };
}

type Write = (value: Json) => string | undefined;

interface Member {
  readonly name: string;
  readonly head: string;
  readonly write: Write;
  /** The text for a missing field; `undefined` if nothing is written or the field is required. */
  readonly fallback: string | undefined;
  readonly isRequired: boolean;
}

/** `undefined` for schemas with lists whose items have defaults, and for schemas with names of the message head. */
function membersOf(schema: JsonSchema, without = ''): readonly Member[] | undefined {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  const members: Member[] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (name === without) continue;
    const write = isObject(property['properties']) ? objectWriter(property) : valueText;
    if (write === undefined || HEAD.has(name) || hasDefaults(property['items'])) return undefined;
    const fallback = Object.hasOwn(property, 'default') ? oneLineJson(property['default'] as Json) : undefined;
    members.push({ name, head: `"${name}":`, write, fallback, isRequired: required.includes(name) });
  }
  return members;
}

function objectWriter(schema: JsonSchema): Write | undefined {
  const members = membersOf(schema);
  if (members === undefined) return undefined;
  return (value) => {
    const text = isPlain(value) ? membersText(value, members) : undefined;
    return text === undefined ? undefined : `{${text}}`;
  };
}

function membersText(value: JsonObject, members: readonly Member[]): string | undefined {
  let text = '';
  let found = 0;
  for (const { name, head, write, fallback, isRequired } of members) {
    const member = value[name];
    if (member !== undefined) found += 1;
    const written = member === undefined ? fallback : write(member);
    if (written !== undefined) text += text === '' ? `${head}${written}` : `,${head}${written}`;
    else if (member !== undefined || isRequired) return undefined;
  }
  for (const _ in value) found -= 1;
  return found === 0 ? text : undefined;
}

/** Simple values are written directly, others by `JSON.stringify`. */
function valueText(value: Json): string | undefined {
  switch (typeof value) {
    case 'string':
      return quotedText(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      return Number.isFinite(value) ? `${value}` : undefined;
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return value.length === 0 ? '[]' : oneLineJson(value);
      return isPlain(value) ? (textsText(value) ?? oneLineJson(value)) : undefined;
    default:
      return undefined;
  }
}

/** The text of an object that contains only strings, as tool arguments often do; `undefined` for any other object. */
function textsText(value: JsonObject): string | undefined {
  let text = '';
  for (const name in value) {
    const member = value[name];
    if (typeof member !== 'string') return undefined;
    const opened = text === '' ? '{' : `${text},`;
    text =
      standsAsItIs(name) && standsAsItIs(member)
        ? `${opened}"${name}":"${member}"`
        : `${opened}${oneLineJson(name)}:${oneLineJson(member)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** A plain object: no inherited members, no `toJSON`. */
function isPlain(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function hasDefaults(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  return isObject(schema['properties']) || Object.hasOwn(schema, 'default') || hasDefaults(schema['items']);
}

const VALUES: ValueWriting = { valueText, isPlain, standsAsItIs };
/** Generated code for frequent types, by the name of their validator. */
const OFTEN: Readonly<Record<string, Often>> = often;
const fieldWriters = new Map<string, FieldsWriter>();
const answerWriters = new Map<string, FieldsWriter>();
const HEAD: ReadonlySet<string> = new Set(['a2e', 'version', 'type', 'id', 'ts']);

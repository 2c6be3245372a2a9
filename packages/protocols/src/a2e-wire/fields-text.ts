import { oneLineJson, quotedText, standsAsItIs } from '../framing/one-line-json.ts';
import * as often from '../generated/a2e-wire-often.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { FieldsWriter, Often, ValueWriting } from '../often.ts';
import type { JsonSchema } from '../schema.ts';

import { type KnownType, lookup } from './type-map.ts';

/**
 * The fields of a known type as members of a JSON object, each with a comma before it; with every default, and without `req_id`
 * where that is written by itself. `undefined` when they are not just what the type has: `completeFields` and `JSON.stringify`
 * take whatever there is, but ask of each member what its type has answered already, and look at each character by itself.
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

/** The one that was made of the schema beforehand, or one that looks into the schema for each message. */
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
  /** Its text when it is left out; `undefined` when nothing is written then, or it must not be. */
  readonly fallback: string | undefined;
  readonly isRequired: boolean;
}

/** `undefined` for a schema with lists in it whose items have defaults, and for one with the names of a message's head. */
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

/** Short work of what most values are; the rest is for `JSON.stringify`. */
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

/** An object with nothing but texts in it, as the arguments of a tool often are. */
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

/** Nothing that is inherited counts, and nothing says by itself how it is written. */
function isPlain(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function hasDefaults(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  return isObject(schema['properties']) || Object.hasOwn(schema, 'default') || hasDefaults(schema['items']);
}

const VALUES: ValueWriting = { valueText, isPlain, standsAsItIs };
/** By the names of their validators. */
const OFTEN: Readonly<Record<string, Often>> = often;
const fieldWriters = new Map<string, FieldsWriter>();
const answerWriters = new Map<string, FieldsWriter>();
const HEAD: ReadonlySet<string> = new Set(['a2e', 'version', 'type', 'id', 'ts']);

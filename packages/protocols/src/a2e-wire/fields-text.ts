import { oneLineJson, quotedText } from '../framing/one-line-json.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { JsonSchema } from '../schema.ts';
import { lookup } from './type-map.ts';

/**
 * The fields of a known type as the members of a JSON object, with every default, without `req_id` where that is written by
 * itself. `undefined` when they are not just what the type has: `completeFields` and `JSON.stringify` take whatever
 * there is, but ask of each member what its type has answered already, and look at each character by itself.
 */
export function fieldsText(type: string, fields: JsonObject, { isAnswer }: { isAnswer: boolean }): string | undefined {
  const known = isAnswer ? answerMembers : fieldMembers;
  let members = known.get(type);
  if (members === undefined) {
    const schema = lookup(type)?.schema;
    if (schema === undefined) return undefined;
    members = membersOf(schema, isAnswer ? 'req_id' : '') ?? UNWRITABLE;
    known.set(type, members);
  }
  return members === UNWRITABLE ? undefined : membersText(fields, members);
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
    text += `${text === '' ? '{' : ','}${quotedText(name)}:${quotedText(member)}`;
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

const UNWRITABLE: readonly Member[] = [];
const fieldMembers = new Map<string, readonly Member[]>();
const answerMembers = new Map<string, readonly Member[]>();
const HEAD: ReadonlySet<string> = new Set(['a2e', 'version', 'type', 'id', 'ts']);

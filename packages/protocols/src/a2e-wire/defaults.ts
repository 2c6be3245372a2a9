import { isObject, type Json, type JsonObject } from '../json.ts';
import type { JsonSchema } from '../schema.ts';
import { WIRE_VERSION } from './message.ts';
import { type KnownType, lookup, type WireMessage } from './type-map.ts';

/** The message with both stamps and every default of its type; its own values stay. */
export function completeMessage(type: string, json: JsonObject): WireMessage {
  return (messageFiller(type) ?? addStamps)(json) as WireMessage;
}

/** The fields of a type with every default. For an answer, `req_id` gets none, because it is written separately. */
export function completeFields(type: string, fields: JsonObject, { isAnswer }: { isAnswer: boolean }): JsonObject {
  return (isAnswer ? answerFiller : fieldFiller)(type)?.(fields) ?? fields;
}

/** Fills missing members with defaults; returns the value itself if none is missing. */
type Fill = (value: JsonObject) => JsonObject;

/**
 * Computes the defaults of a schema once. A value is copied only if a member is missing. The template of the copy also
 * has every required field.
 */
function fillerOf(schema: JsonSchema, base: JsonObject = {}): Fill | undefined {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  const defaults = Object.entries(properties).filter(([, property]) => Object.hasOwn(property, 'default'));
  const nested = Object.entries(properties).flatMap(([name, property]) => {
    const fill = valueFillerOf(property);
    return fill === undefined ? [] : [[name, fill] as const];
  });
  if (defaults.length === 0 && nested.length === 0) return undefined;
  const template: JsonObject = {
    ...base,
    ...Object.fromEntries(required.map((name) => [name, null])),
    ...Object.fromEntries(defaults.map(([name, property]) => [name, frozen(property['default'] as Json)])),
  };
  const names = [...Object.keys(base), ...defaults.map(([name]) => name)];
  return (value) => {
    let filled = value;
    for (const name of names) {
      if (value[name] !== undefined) continue;
      filled = { ...template, ...value };
      break;
    }
    for (const [name, fill] of nested) {
      const member = value[name];
      if (typeof member !== 'object' || member === null) continue;
      const inner = fill(member);
      if (inner === member) continue;
      // Safe as a key: the name is from the schema, never from the sender.
      if (filled === value) filled = { ...value };
      filled[name] = inner;
    }
    return filled;
  };
}

function valueFillerOf(schema: JsonSchema): ((value: Json) => Json) | undefined {
  if (isObject(schema['items'])) {
    const fill = valueFillerOf(schema['items']);
    return fill && ((value) => (Array.isArray(value) ? filledItems(value, fill) : value));
  }
  const fill = fillerOf(schema);
  return fill && ((value) => (isObject(value) ? fill(value) : value));
}

function filledItems(items: Json[], fill: (value: Json) => Json): Json[] {
  const filled = items.map(fill);
  return filled.every((item, index) => item === items[index]) ? items : filled;
}

/** Frozen, because all messages that leave the field out share its default. */
function frozen(value: Json): Json {
  if (typeof value === 'object') Object.freeze(value);
  return value;
}

const STAMPED = { a2e: WIRE_VERSION, version: WIRE_VERSION } as const;
const addStamps: Fill = (value) => ({ ...STAMPED, ...value });
const messageFiller = fillersBy(({ type, schema }) => fillerOf(schema, { ...STAMPED, type, id: '', ts: 0.5 }));
const fieldFiller = fillersBy(({ schema }) => fillerOf(schema));
const answerFiller = fillersBy(({ schema }) => fillerOf(without('req_id', schema)));

/** The function that fills the defaults of a known type, built on first use. */
function fillersBy(make: (row: KnownType) => Fill | undefined): (type: string) => Fill | undefined {
  const made = new Map<string, Fill | undefined>();
  return (type) => {
    const known = made.get(type);
    if (known !== undefined || made.has(type)) return known;
    const row = lookup(type);
    if (row === undefined) return undefined;
    const fill = make(row);
    made.set(type, fill);
    return fill;
  };
}

function without(name: string, schema: JsonSchema): JsonSchema {
  const members = Object.entries((schema as { properties: Record<string, JsonSchema> }).properties);
  return { ...schema, properties: Object.fromEntries(members.filter(([member]) => member !== name)) } as JsonSchema;
}

import { type JsonSchema, SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import { EVENT_DATA, WireBaseMessage } from './message.ts';
import { KNOWN_TYPES, type KnownType, validatorName } from './type-map.ts';

const BASE = 'base message';

const shapes: [string, string, JsonSchema][] = [
  [BASE, 'any message', WireBaseMessage],
  ...KNOWN_TYPES.map((row): [string, string, JsonSchema] => [row.type, row.type, messageSchema(row)]),
  ...Object.entries(EVENT_DATA).map(([kind, schema]): [string, string, JsonSchema] => [
    `${kind} data`,
    `data of a ${kind} event`,
    schema,
  ]),
];

const schemas: SchemaSet = {
  dialect: 'a2e-wire',
  schemas: Object.fromEntries(
    shapes.map(([name, title, schema]) => [
      validatorName(name),
      { $id: schemaId(name), title: `A2E wire: ${title}`, ...schema },
    ]),
  ),
  often: ['tool/call/req', 'tool/call/resp'].map(validatorName),
};

export default schemas;

/** `tool/call/req` → `…/tool-call-req.json`. */
function schemaId(name: string): string {
  return `${SCHEMA_BASE}/a2e-wire/${name.replaceAll(/[/_ ]/g, '-')}.json`;
}

/** The type's own fields, on top of the base ones, which are compiled once. */
function messageSchema({ type, schema }: KnownType): JsonSchema {
  const { properties, ...rest } = schema as { properties: object };
  return { ...rest, allOf: [{ $ref: schemaId(BASE) }], properties: { type: { const: type }, ...properties } };
}

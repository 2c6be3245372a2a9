import type { JsonSchema } from '../../packages/protocols/src/schema.ts';

/** Finds a schema by what `$ref` says of it. */
export type Resolve = (ref: string) => JsonSchema | undefined;

/** A Markdown table of every member of an object, those of objects within it as `outer.inner`. */
export function schemaTable(schema: JsonSchema, resolve: Resolve): string {
  const rows = membersOf(schema, resolve).map(({ name, type, isRequired, note }) => {
    return `| \`${name}\`${isRequired ? ' *' : ''} | ${cell(type)} | ${cell(note)} |`;
  });
  return rows.length === 0 ? '' : ['| member | is | |', '|---|---|---|', ...rows, ''].join('\n');
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly note: string;
}

function membersOf(given: JsonSchema, resolve: Resolve, path = '', depth = 0): Member[] {
  const schema = merged(given, resolve);
  const required = new Set(listOf<string>(schema['required']));
  const named = Object.entries(recordOf(schema['properties']));
  const others = isSchema(schema['additionalProperties']) ? [['<name>', schema['additionalProperties']] as const] : [];
  return [...named, ...others].flatMap(([key, value]) => {
    const member = merged(value, resolve);
    const name = path === '' ? key : `${path}.${key}`;
    const type = typeOf(member, resolve);
    const row = { name, type, isRequired: required.has(key), note: noteOf(member) };
    return [row, ...(depth < DEEPEST ? inner(member, resolve, name, depth + 1) : [])];
  });
}

/** The members of what is inside: of an object, of the items of an array, of those choices that are objects. */
function inner(schema: JsonSchema, resolve: Resolve, name: string, depth: number): Member[] {
  const items = schema['items'];
  if (isSchema(items)) return inner(merged(items, resolve), resolve, `${name}[]`, depth);
  const choices = choicesOf(schema).map((choice) => merged(choice, resolve));
  return [schema, ...choices].flatMap((one) => {
    return one === schema && choices.length > 0 && one['properties'] === undefined
      ? []
      : membersOf({ ...one, anyOf: undefined, oneOf: undefined }, resolve, name, depth);
  });
}

function typeOf(schema: JsonSchema, resolve: Resolve): string {
  if (schema['const'] !== undefined) return `\`${JSON.stringify(schema['const'])}\``;
  const values = listOf<unknown>(schema['enum']);
  if (values.length > 0) return values.map((value) => (value === null ? 'null' : `\`${value}\``)).join(', ');
  const choices = choicesOf(schema).map((choice) => typeOf(merged(choice, resolve), resolve));
  if (choices.length > 0) return [...new Set(choices)].join(' or ');
  const items = schema['items'];
  const types = [schema['type'] ?? []].flat().map((type) => {
    return type === 'array' && isSchema(items) ? `array of ${typeOf(merged(items, resolve), resolve)}` : String(type);
  });
  return types.length === 0 ? 'anything' : types.join(' or ');
}

function noteOf(schema: JsonSchema): string {
  const { description, format, pattern, minimum, maximum, minLength, maxLength, maxItems } = schema;
  const initial = schema['default'];
  const isShort = typeof pattern === 'string' && pattern.length <= 40 && !/\\u/.test(pattern);
  return [
    description,
    format === undefined ? undefined : `As ${format}.`,
    isShort ? `Fits \`${pattern}\`.` : undefined,
    bounds(minimum, maximum, ''),
    bounds(minLength === 1 && maxLength === undefined ? undefined : minLength, maxLength, ' characters'),
    maxItems === undefined ? undefined : `At most ${maxItems} items.`,
    isWorthTelling(initial) ? `Default: \`${JSON.stringify(initial)}\`.` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

function bounds(least: unknown, most: unknown, unit: string): string | undefined {
  if (least === undefined && most === undefined) return undefined;
  if (most === undefined) return `From ${least}${unit}.`;
  return least === undefined ? `At most ${most}${unit}.` : `${least} to ${most}${unit}.`;
}

/** With what it refers to, and all its parts, as one. */
function merged(schema: JsonSchema, resolve: Resolve): JsonSchema {
  const { $ref, allOf, ...own } = schema;
  const target = typeof $ref === 'string' ? resolve($ref) : undefined;
  const parts = [...(target === undefined ? [] : [target]), ...listOf<JsonSchema>(allOf)];
  return parts
    .map((part) => merged(part, resolve))
    .reduceRight((whole, part) => together(part, whole), own as JsonSchema);
}

function together(base: JsonSchema, more: JsonSchema): JsonSchema {
  const properties = { ...recordOf(base['properties']) };
  for (const [key, value] of Object.entries(recordOf(more['properties']))) {
    properties[key] = Object.hasOwn(properties, key) ? together(properties[key] ?? {}, value) : value;
  }
  const required = [...listOf<string>(base['required']), ...listOf<string>(more['required'])];
  return { ...base, ...more, properties, required };
}

function choicesOf(schema: JsonSchema): readonly JsonSchema[] {
  return listOf<JsonSchema>(schema['anyOf'] ?? schema['oneOf']);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown): Record<string, JsonSchema> {
  return isSchema(value) ? (value as Record<string, JsonSchema>) : {};
}

function listOf<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value : [];
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

const DEEPEST = 6;

/** Of an object, its members tell their own defaults. */
function isWorthTelling(initial: unknown): boolean {
  return initial !== undefined && initial !== '' && JSON.stringify(initial) !== '{}';
}

import type { JsonSchema } from '../../packages/protocols/src/schema.ts';

/** Finds a schema by its `$ref`. */
export type Resolve = (ref: string) => JsonSchema | undefined;

/** Writes the tables of one page. Members that a table of the page has shown already are not repeated. */
export class SchemaTables {
  readonly #resolve: Resolve;
  readonly #shown = new Map<string, string>();
  readonly #everywhere: ReadonlySet<string>;
  readonly #elsewhere = new Map<string, string>();

  /** `base` has the members of every message of the page; only its own table lists them. */
  constructor(resolve: Resolve, base?: JsonSchema) {
    this.#resolve = resolve;
    this.#everywhere = new Set(base === undefined ? [] : membersOf(base, resolve).map(spelt));
  }

  /** Describes members under these names as the members of that place, where they are the same. */
  refer(schema: JsonSchema, place: string): void {
    for (const member of membersOf(schema, this.#resolve)) this.#elsewhere.set(spelt(member), place);
  }

  /** Every member of an object, as a table or a list, those of objects within it as `outer.inner`; not a type that the title names. */
  table(schema: JsonSchema, title: string, isBase = false): string {
    const rows: Row[] = [];
    const members = membersOf(schema, this.#resolve);
    const isSameElsewhere = members.filter((member) => this.#elsewhere.has(spelt(member))).length >= WORTH_A_LINK;
    for (let at = 0; at < members.length; at += 1) {
      const member = members[at];
      if (member === undefined || (!isBase && this.#everywhere.has(spelt(member)))) continue;
      if (member.type === `\`"${title}"\``) continue;
      const elsewhere = isSameElsewhere ? this.#elsewhere.get(spelt(member)) : undefined;
      if (elsewhere !== undefined) {
        if (!rows.some(({ name }) => name === elsewhere))
          rows.push({ name: elsewhere, type: '', note: 'the same members' });
        continue;
      }
      const within = members.slice(at + 1).filter(({ name }) => isWithin(name, member.name));
      const place = within.length < WORTH_A_LINK ? undefined : this.#place(member, within, title);
      if (place !== undefined) at += within.length;
      const note = [member.note, place === undefined ? '' : `Members: see ${place}.`].join(' ').trim();
      const name = `\`${member.name}\`${member.isRequired ? '\\*' : ''}`;
      rows.push({ name, type: member.initial === '' ? member.type : `${member.type} (${member.initial})`, note });
    }
    if (rows.length === 0) return '';
    return rows.some(({ note }) => note !== '') ? tableOf(rows) : listOfMembers(rows);
  }

  /** Where the page has the same members already; undefined where this is the first place. */
  #place(outer: Member, within: readonly Member[], title: string): string | undefined {
    const shape = JSON.stringify(within.map((member) => ({ ...member, name: member.name.slice(outer.name.length) })));
    const place = this.#shown.get(shape);
    if (place === undefined) this.#shown.set(shape, `\`${outer.name}\` of ${title}`);
    return place;
  }
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly initial: string;
  readonly note: string;
}

interface Row {
  readonly name: string;
  /** With the default in parentheses. */
  readonly type: string;
  readonly note: string;
}

/** Member, type with default, and meaning. */
function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ name, type, note }) => `| ${name} | ${cell(type)} | ${cell(note)} |`);
  return ['| | | |', '|---|---|---|', ...lines, ''].join('\n');
}

/** Members without descriptions, in one paragraph. */
function listOfMembers(rows: readonly Row[]): string {
  return `${rows.map(({ name, type }) => `${name}: ${type.replaceAll(' | ', '/')}`).join('; ')}.\n`;
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
    const row = { name, type, isRequired: required.has(key), initial: initialOf(member), note: noteOf(member) };
    const within = depth < DEEPEST ? inner(member, resolve, name, depth + 1) : [];
    const [only] = within;
    const isMap = within.length === 1 && only?.name === `${name}.<name>` && only.note === '' && only.initial === '';
    if (isMap) return [{ ...row, type: `${type} of ${only.type}` }];
    return within.length > 0 && row.note === '' && !row.isRequired ? within : [row, ...within];
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
  return `${shapeOf(schema, resolve)}${boundsOf(schema)}`;
}

function shapeOf(schema: JsonSchema, resolve: Resolve): string {
  if (schema['const'] !== undefined) return `\`${JSON.stringify(schema['const'])}\``;
  const values = listOf<unknown>(schema['enum']);
  if (values.length > 0) return values.map((value) => (value === null ? 'null' : `\`${value}\``)).join(' | ');
  const choices = choicesOf(schema).map((choice) => typeOf(merged(choice, resolve), resolve));
  if (choices.length > 0) return [...new Set(choices)].join(' | ');
  const items = schema['items'];
  const types = [schema['type'] ?? []].flat().map((type) => {
    return type === 'array' && isSchema(items) ? arrayOf(shapeOf(merged(items, resolve), resolve)) : String(type);
  });
  return types.length === 0 ? 'any' : types.join(' | ');
}

function noteOf(schema: JsonSchema): string {
  const { description, format, pattern } = schema;
  const isShort = typeof pattern === 'string' && pattern.length <= 40 && !/\\u/.test(pattern);
  return [description, format === undefined ? undefined : `Format: ${format}.`, isShort ? `\`${pattern}\`` : undefined]
    .filter((part) => part !== undefined)
    .join(' ');
}

function arrayOf(item: string): string {
  return /^[\w[\]]+$/.test(item) ? `${item}[]` : `(${item})[]`;
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems }: JsonSchema): string {
  return [
    bounds(minimum, maximum),
    bounds(isAtMostOne(minLength) ? undefined : minLength, maxLength),
    bounds(undefined, maxItems),
  ].join('');
}

/** Not shown: safe integers, which every integer must be, and that a number is positive. */
function bounds(least: unknown, most: unknown): string {
  const low = least === Number.MIN_SAFE_INTEGER || (least === 1 && most === undefined) ? undefined : least;
  const high = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (low === undefined && high === undefined) return '';
  if (high === undefined) return `, ≥ ${low}`;
  return low === undefined ? `, ≤ ${high}` : `, ${low}–${high}`;
}

function isAtMostOne(length: unknown): boolean {
  return typeof length === 'number' && length <= 1;
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

function spelt({ name, type, isRequired, initial, note }: Member): string {
  return JSON.stringify([name, type, isRequired, initial, note]);
}

function isWithin(name: string, outer: string): boolean {
  return name.startsWith(`${outer}.`) || name.startsWith(`${outer}[`);
}

const DEEPEST = 6;
const WORTH_A_LINK = 3;

/** Members of an object have their own defaults. */
function initialOf({ default: initial }: JsonSchema): string {
  const isWorthShowing = initial !== undefined && initial !== '' && JSON.stringify(initial) !== '{}';
  return isWorthShowing ? `\`${JSON.stringify(initial)}\`` : '';
}

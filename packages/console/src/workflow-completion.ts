import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { type Member, OPERATIONS, type OperationDescription } from '@dragoman/protocols/a2e-workflow';

/** One completion. */
export interface Offer {
  /** The text in the list. */
  readonly label: string;
  /** The inserted text. */
  readonly text: string;
  readonly kind: 'name' | 'value';
  /** A short explanation. */
  readonly detail?: string;
}

/** The completions for the text between two columns of a line. */
export interface Offered {
  readonly from: number;
  readonly to: number;
  readonly offers: readonly Offer[];
}

/** The resources that the current key may use. */
export interface Usable {
  readonly operations: readonly string[];
  readonly credentials: readonly string[];
  /** The base URLs of APIs. */
  readonly origins: readonly string[];
}

/**
 * The completions at a column of a workflow line, from the schemas of the line and its operation. Paths and operation
 * ids are taken from the other lines.
 */
export function offeredAt(line: string, column: number, text: string, usable: Usable): Offered | undefined {
  const place = placeAt(line.slice(0, column));
  if (place === undefined) return undefined;
  const found = place.isName ? names(place, usable) : values(place, text, usable);
  if (found.length === 0) return undefined;
  const after = line.slice(column);
  // A closing quote and a colon behind the cursor are replaced, so that they do not appear twice.
  const rest = /^[^"{}[\],:]*"?(?:\s*:)?/.exec(place.isInText ? after : '')?.[0] ?? '';
  return { from: place.from, to: column + rest.length, offers: found };
}

interface Place {
  /** The start of the unfinished token. */
  readonly from: number;
  readonly isInText: boolean;
  /** Whether the name of a member is expected, not a value. */
  readonly isName: boolean;
  readonly path: readonly (string | number)[];
  /** The names of the members that the innermost object already has. */
  readonly has: readonly string[];
}

/** Reads incomplete JSON up to the cursor. `undefined` where nothing can follow, as after a complete value. */
function placeAt(before: string): Place | undefined {
  const open: Container[] = [];
  let from = before.length;
  let isInText = false;
  let isDue = true;
  for (const { index, 0: token } of before.matchAll(TOKEN)) {
    const top = open.at(-1);
    isInText = token.startsWith('"') && !WHOLE_TEXT.test(token);
    isDue = false;
    if (token === '{' || token === '[') {
      open.push({ isObject: token === '{', names: [], name: undefined, at: 0 });
      isDue = true;
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',') {
      if (top?.isObject) top.name = undefined;
      else if (top !== undefined) top.at += 1;
      isDue = true;
    } else if (token === ':') isDue = true;
    else if (isInText) isDue = true;
    else if (top?.isObject && top.name === undefined && token.startsWith('"')) {
      top.name = String(parsed(token));
      top.names.push(top.name);
    }
    from = isInText ? index : before.length;
  }
  const top = open.at(-1);
  if (!isDue || top === undefined) return undefined;
  const isName = top.isObject && top.name === undefined;
  const path = open.map((one) => (one.isObject ? (one.name ?? '') : one.at));
  return { from, isInText, isName, path: isName ? path.slice(0, -1) : path, has: top.names };
}

interface Container {
  readonly isObject: boolean;
  readonly names: string[];
  /** The name of the member whose value is expected. */
  name: string | undefined;
  /** The index of the item that is expected. */
  at: number;
}

function names({ path, has }: Place, { operations }: Usable): Offer[] {
  return schemasAt(path, operations).flatMap((schema) => {
    const required = arrayIn(schema, 'required');
    return Object.keys(objectIn(schema, 'properties'))
      .filter((name) => !has.includes(name))
      .map((name): Offer => {
        const detail = path.length === 1 ? described(name)?.summary : required.includes(name) ? 'required' : undefined;
        return { label: name, text: `${JSON.stringify(name)}:`, kind: 'name', ...(detail !== undefined && { detail }) };
      });
  });
}

function values({ path }: Place, text: string, usable: Usable): Offer[] {
  const known = [...new Set(knownValues(path, text, usable))].map((value) => value as Json);
  const allowed = schemasAt(path, usable.operations).flatMap((schema) => {
    if ('const' in schema) return [schema['const'] ?? null];
    if (schema['type'] === 'boolean') return [true, false];
    return arrayIn(schema, 'enum');
  });
  return [...known, ...allowed].map((value) => {
    const written = JSON.stringify(value);
    return { label: typeof value === 'string' ? value : written, text: written, kind: 'value' };
  });
}

/** Values that the schemas do not have: ids and paths of other lines, and resources that the key may use. */
function knownValues(path: readonly (string | number)[], text: string, usable: Usable): readonly string[] {
  const [first, operation, ...rest] = path;
  if (first === 'operationOrder') return definedIn(text).map(({ id }) => id);
  if (first !== 'operation' || typeof operation !== 'string') return [];
  if (rest.at(-2) === 'credentialRef' || rest.at(-1) === 'credentialRef') return usable.credentials;
  const pointer = `/${rest.map((part) => (typeof part === 'number' ? '*' : part)).join('/')}`;
  const member = described(operation)?.members.find(({ at }) => at === pointer)?.is;
  return member === undefined ? [] : (KNOWN[member]?.(text, usable) ?? []);
}

const KNOWN: Partial<Record<Member['is'], (text: string, usable: Usable) => readonly string[]>> = {
  input: (text) => definedIn(text).flatMap(({ writes }) => writes),
  target: (text) => definedIn(text).map(({ id }) => id),
  'stored-key': (text) => definedIn(text).flatMap(({ keeps }) => keeps),
  url: (_, { origins }) => origins,
};

interface Defined {
  readonly id: string;
  readonly writes: readonly string[];
  readonly keeps: readonly string[];
}

/** The operations that whole lines define. */
function definedIn(text: string): readonly Defined[] {
  return text.split('\n').flatMap((line): Defined[] => {
    const json = parsed(line);
    if (!isObject(json) || typeof json['operationId'] !== 'string') return [];
    const operation = objectIn(json, 'operation');
    const [name = ''] = Object.keys(operation);
    const config = objectIn(operation, name);
    const textsOf = (is: Member['is']) =>
      (described(name)?.members ?? []).flatMap((member) => {
        const value = member.is === is ? config[member.at.slice(1)] : undefined;
        return typeof value === 'string' ? [value] : [];
      });
    return [{ id: json['operationId'], writes: textsOf('output'), keeps: textsOf('key') }];
  });
}

/** The schemas for a path of a line. */
function schemasAt(path: readonly (string | number)[], operations: readonly string[]): readonly JsonObject[] {
  let schemas: readonly JsonObject[] = [lineSchema(operations)];
  for (const part of path) {
    schemas = schemas.flatMap(alternatives).flatMap((schema): JsonObject[] => {
      const next = typeof part === 'number' ? schema['items'] : objectIn(schema, 'properties')[part];
      return isObject(next) ? [next] : [];
    });
  }
  return schemas.flatMap(alternatives);
}

function alternatives(schema: JsonObject): readonly JsonObject[] {
  const others = [...arrayIn(schema, 'anyOf'), ...arrayIn(schema, 'oneOf')].filter(isObject);
  return [schema, ...others.flatMap(alternatives)];
}

function lineSchema(operations: readonly string[]): JsonObject {
  const known = operations.flatMap((name) => {
    const schema = described(name)?.schema;
    return [[name, (schema ?? { type: 'object' }) as unknown as JsonObject] as const];
  });
  return {
    properties: {
      type: { enum: ['operationUpdate', 'beginExecution'] },
      operationId: {},
      operation: { properties: Object.fromEntries(known) },
      executionId: {},
      operationOrder: { items: {} },
    },
  };
}

function described(name: string): OperationDescription | undefined {
  return Object.entries<OperationDescription>(OPERATIONS).find(([one]) => one === name)?.[1];
}

function objectIn(schema: JsonObject, name: string): JsonObject {
  const value = schema[name];
  return isObject(value) ? value : {};
}

function arrayIn(schema: JsonObject, name: string): readonly Json[] {
  const value = schema[name];
  return Array.isArray(value) ? value : [];
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A string, complete or not; a punctuation mark; or anything else up to the next one. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g;
const WHOLE_TEXT = /^"(?:[^"\\]|\\.)*"$/;

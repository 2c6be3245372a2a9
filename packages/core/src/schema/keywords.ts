import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { identity, isScalar } from '../json/equality.ts';
import { jsonSize } from '../json/json-size.ts';
import type { SchemaKind, SchemaNode, SchemaRule } from './schema-node.ts';
import type { SchemaRun } from './schema-run.ts';

/** A part of a schema during compilation. Throws a worded error for invalid keywords. */
export interface SchemaPart {
  readonly schema: JsonObject;
  /** Its position in the document, as a URI fragment: `#/properties/a`. */
  readonly path: string;
  /** A schema inside this one. */
  inner(given: Json, ...at: string[]): SchemaNode;
  /** The schema that a reference names. */
  referred(reference: string): SchemaNode;
  pattern(text: string): PatternTest;
  refuse(keyword: string, expected: string): never;
  /** Adds to the work of checking a value with this part, in looks (`Effort`). */
  addWeight(looks: number): void;
}

export type PatternTest = (text: string, run: SchemaRun) => boolean;

export interface Keyword {
  /** The rule is made for schemas that have at least one of these. */
  readonly names: readonly string[];
  readonly kind: SchemaKind | 'any';
  rule(part: SchemaPart): SchemaRule<never> | undefined;
}

function keyword<Of extends Keyword['kind']>(
  kind: Of,
  names: string | readonly string[],
  rule: (part: SchemaPart, name: string) => SchemaRule<Of> | undefined,
): Keyword {
  const all = [names].flat() as string[];
  return { kind, names: all, rule: (part) => rule(part, all[0] as string) as SchemaRule<never> | undefined };
}

/**
 * The keywords of drafts 4 to 2020-12 that restrict a value, in the order in which they are checked: the cheapest
 * first. The drafts differ so little that they are read as one; where a keyword changed its meaning, its form shows
 * which one is meant. `format` is only an annotation (JSON Schema 2020-12 Validation, 7.2.1).
 */
export const KEYWORDS: readonly Keyword[] = [
  keyword('any', 'type', (part) => {
    const names = [part.schema['type']].flat();
    const tests = names.map((name) => TYPES.get(name as string) ?? part.refuse('type', TYPE_NAMES));
    const params = { type: names.length === 1 ? names[0] : names };
    const path = `${part.path}/type`;
    return (value, run) => tests.some((isOf) => isOf(value)) || run.fail('type', path, params);
  }),
  keyword('any', 'enum', (part) => {
    const allowed = listIn(part, 'enum');
    const isAllowed = oneOfThese(allowed);
    return (value, run) => isAllowed(value, run) || run.fail('enum', `${part.path}/enum`, { allowedValues: allowed });
  }),
  keyword('any', 'const', (part) => {
    const allowedValue = part.schema['const'] as Json;
    const isAllowed = oneOfThese([allowedValue]);
    return (value, run) => isAllowed(value, run) || run.fail('const', `${part.path}/const`, { allowedValue });
  }),

  bound('maximum', (value, limit) => value <= limit),
  bound('minimum', (value, limit) => value >= limit),
  bound('exclusiveMaximum', (value, limit) => value < limit),
  bound('exclusiveMinimum', (value, limit) => value > limit),
  keyword('number', 'multipleOf', (part) => {
    const multipleOf = part.schema['multipleOf'];
    if (typeof multipleOf !== 'number' || multipleOf <= 0) return part.refuse('multipleOf', 'a number above 0');
    const path = `${part.path}/multipleOf`;
    return (value, run) => isMultiple(value, multipleOf) || run.fail('multipleOf', path, { multipleOf });
  }),

  limit('string', 'maxLength', (text, most, run) => text.length <= most || codePoints(text, run) <= most),
  limit('string', 'minLength', (text, least, run) => text.length >= least && codePoints(text, run) >= least),
  keyword('string', 'pattern', (part) => {
    const { pattern } = part.schema;
    if (typeof pattern !== 'string') return part.refuse('pattern', 'a regular expression');
    const matches = part.pattern(pattern);
    return (text, run) => matches(text, run) || run.fail('pattern', `${part.path}/pattern`, { pattern });
  }),

  limit('array', 'maxItems', (items, most) => items.length <= most),
  limit('array', 'minItems', (items, least) => items.length >= least),
  keyword('array', 'uniqueItems', (part) => {
    const { uniqueItems } = part.schema;
    if (typeof uniqueItems !== 'boolean') return part.refuse('uniqueItems', 'true or false');
    return uniqueItems ? (items, run) => areUnique(items, run, `${part.path}/uniqueItems`) : undefined;
  }),
  limit('object', 'maxProperties', (value, most, run) => keysOf(value, run).length <= most),
  limit('object', 'minProperties', (value, least, run) => keysOf(value, run).length >= least),
  keyword('object', 'required', (part) => {
    const { required } = part.schema;
    // In draft 3 it was a flag in the schema of the member, which does not restrict the member's value.
    if (typeof required === 'boolean') return undefined;
    const names = namesIn(part, required, 'required');
    return (value, run) => hasAll(value, names, run, `${part.path}/required`);
  }),
  keyword('object', ['dependentRequired', 'dependencies'], (part) => {
    const needs = [...entriesIn(part, 'dependentRequired'), ...entriesIn(part, 'dependencies')].flatMap(
      ([name, needed]) => (Array.isArray(needed) ? [{ name, names: namesIn(part, needed, 'dependentRequired') }] : []),
    );
    part.addWeight(needs.length / MEMBERS_A_LOOK);
    const path = `${part.path}/dependentRequired`;
    return (value, run) =>
      every(needs, run, ({ name, names }) => !Object.hasOwn(value, name) || hasAll(value, names, run, path));
  }),

  ...['$ref', '$dynamicRef', '$recursiveRef'].map((name) =>
    keyword('any', name, (part) => {
      const reference = part.schema[name];
      if (typeof reference !== 'string') return part.refuse(name, 'the URI of a schema');
      const node = part.referred(reference);
      return (value, run) => run.fits(node, value);
    }),
  ),
  keyword('any', 'allOf', (part) => {
    const parts = partsIn(part, 'allOf');
    return (value, run) => every(parts, run, (node) => run.fits(node, value));
  }),
  keyword('any', 'anyOf', (part) => {
    const parts = partsIn(part, 'anyOf');
    return (value, run) => {
      const enough = run.evaluated === undefined ? 1 : parts.length;
      return fittingAmong(parts, value, run, enough) > 0 || run.fail('anyOf', `${part.path}/anyOf`, {});
    };
  }),
  keyword('any', 'oneOf', (part) => {
    const parts = partsIn(part, 'oneOf');
    return (value, run) => fittingAmong(parts, value, run, 2) === 1 || run.fail('oneOf', `${part.path}/oneOf`, {});
  }),
  keyword('any', 'not', (part) => {
    const node = part.inner(part.schema['not'] as Json, 'not');
    return (value, run) => {
      const { evaluated } = run;
      run.evaluated = undefined;
      const isFit = run.fitsQuietly(node, value);
      run.evaluated = evaluated;
      return !isFit || run.fail('not', `${part.path}/not`, {});
    };
  }),
  keyword('any', 'if', (part) => {
    const { if: test, then, else: otherwise } = part.schema;
    const condition = part.inner(test as Json, 'if');
    const ifSo = then === undefined ? undefined : part.inner(then, 'then');
    const ifNot = otherwise === undefined ? undefined : part.inner(otherwise, 'else');
    return (value, run) => {
      const next = run.fitsQuietly(condition, value) ? ifSo : ifNot;
      return next === undefined || run.fits(next, value);
    };
  }),

  keyword('array', ['prefixItems', 'items', 'additionalItems'], (part) => {
    const { prefixItems, items, additionalItems } = part.schema;
    // Up to draft 2019-09, `items` could be a list of schemas, and `additionalItems` was for the items after it.
    const [name, list, rest] = Array.isArray(items)
      ? (['items', items, additionalItems] as const)
      : (['prefixItems', prefixItems ?? [], items] as const);
    if (!Array.isArray(list)) return part.refuse(name, 'a list of schemas');
    const first = list.map((schema, at) => part.inner(schema, name, String(at)));
    const others = rest === undefined ? undefined : part.inner(rest, rest === items ? 'items' : 'additionalItems');
    return (value, run) => {
      let isFit = true;
      for (const [at, item] of value.entries()) {
        const node = first[at] ?? others;
        if (node === undefined) break;
        run.evaluated?.keys.add(at);
        if (run.fitsAt(at, node, item)) continue;
        isFit = false;
        if (!run.findsAll) break;
      }
      return isFit;
    };
  }),
  keyword('array', 'contains', (part) => {
    const { contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY } = part.schema;
    if (typeof minContains !== 'number' || minContains < 0) return part.refuse('minContains', 'a number from 0');
    if (typeof maxContains !== 'number' || maxContains < 0) return part.refuse('maxContains', 'a number from 0');
    const node = part.inner(contains as Json, 'contains');
    return (items, run) => {
      let count = 0;
      for (const [at, item] of items.entries()) {
        const { evaluated } = run;
        run.evaluated = undefined;
        const isFit = run.fitsQuietly(node, item);
        run.evaluated = evaluated;
        if (!isFit) continue;
        count += 1;
        evaluated?.keys.add(at);
      }
      const isFit = count >= minContains && count <= maxContains;
      return isFit || run.fail('contains', `${part.path}/contains`, { minContains, maxContains });
    };
  }),
  keyword('object', ['properties', 'patternProperties', 'additionalProperties'], (part) => {
    const named = new Map(
      entriesIn(part, 'properties').map(([name, schema]) => [name, part.inner(schema, 'properties', name)]),
    );
    const patterns = entriesIn(part, 'patternProperties').map(([pattern, schema]) => ({
      matches: part.pattern(pattern),
      node: part.inner(schema, 'patternProperties', pattern),
    }));
    const { additionalProperties: additional } = part.schema;
    const others = additional === undefined ? undefined : part.inner(additional, 'additionalProperties');
    const path = `${part.path}/additionalProperties`;
    part.addWeight((named.size + patterns.length) / MEMBERS_A_LOOK);
    const fitsOthers = (value: JsonObject, name: string, run: SchemaRun) => {
      const member = value[name] as Json;
      let isFit = true;
      let isKnown = named.has(name);
      for (const { matches, node } of patterns) {
        if (!matches(name, run)) continue;
        isKnown = true;
        run.evaluated?.keys.add(name);
        if (!run.fitsAt(name, node, member)) isFit = false;
      }
      if (isKnown || others === undefined) return isFit;
      run.evaluated?.keys.add(name);
      return additional === false
        ? run.fail('additionalProperties', path, { additionalProperty: name })
        : run.fitsAt(name, others, member);
    };
    const hasOthers = patterns.length > 0 || others !== undefined;
    // In the order of the schema, whose first members distinguish the branches of a choice.
    const entries = [...named];
    return (value, run) => {
      const isFit = every(entries, run, ([name, node]) => {
        if (!Object.hasOwn(value, name)) return true;
        run.evaluated?.keys.add(name);
        return run.fitsAt(name, node, value[name] as Json);
      });
      if (!hasOthers || (!isFit && !run.findsAll)) return isFit;
      return every(keysOf(value, run), run, (name) => fitsOthers(value, name, run)) && isFit;
    };
  }),
  keyword('object', 'propertyNames', (part) => {
    const node = part.inner(part.schema['propertyNames'] as Json, 'propertyNames');
    const path = `${part.path}/propertyNames`;
    return (value, run) => {
      const { evaluated } = run;
      run.evaluated = undefined;
      const isFit = every(
        keysOf(value, run),
        run,
        (propertyName) => run.fitsQuietly(node, propertyName) || run.fail('propertyNames', path, { propertyName }),
      );
      run.evaluated = evaluated;
      return isFit;
    };
  }),
  keyword('object', ['dependentSchemas', 'dependencies'], (part) => {
    const needs = ['dependentSchemas', 'dependencies'].flatMap((name) =>
      entriesIn(part, name).flatMap(([member, schema]) =>
        Array.isArray(schema) ? [] : [{ member, node: part.inner(schema, name, member) }],
      ),
    );
    part.addWeight(needs.length / MEMBERS_A_LOOK);
    return (value, run) =>
      every(needs, run, ({ member, node }) => !Object.hasOwn(value, member) || run.fits(node, value));
  }),

  // These depend on which members and items all others have evaluated, so they come last.
  keyword('array', 'unevaluatedItems', (part) => {
    const { unevaluatedItems } = part.schema;
    const node = part.inner(unevaluatedItems as Json, 'unevaluatedItems');
    return (items, run) =>
      every([...items.entries()], run, ([at, item]) => {
        if (run.evaluated?.keys.has(at) === true) return true;
        run.evaluated?.keys.add(at);
        return run.fitsAt(at, node, item);
      });
  }),
  keyword('object', 'unevaluatedProperties', (part) => {
    const { unevaluatedProperties: given } = part.schema;
    const node = part.inner(given as Json, 'unevaluatedProperties');
    return (value, run) =>
      every(keysOf(value, run), run, (name) => {
        if (run.evaluated?.keys.has(name) === true) return true;
        run.evaluated?.keys.add(name);
        // No path into the schema: the members it knows are listed in several places.
        if (given === false) return run.fail('additionalProperties', '', { additionalProperty: name });
        return run.fitsAt(name, node, value[name] as Json);
      });
  }),
];

/** The rule of the schema `false`, which no value fits. */
export function never(path: string): SchemaRule {
  return (_, run) => run.fail('false schema', path, {});
}

function bound(name: string, isWithin: (value: number, limit: number) => boolean): Keyword {
  return keyword('number', name, (part) => {
    const given = part.schema[name];
    // In draft 4, `exclusiveMaximum` and `exclusiveMinimum` are flags that make the other bound exclusive.
    const beside = typeof given === 'boolean' ? part.schema[name.replace('exclusiveM', 'm')] : undefined;
    if (given === false || (given === true && beside === undefined)) return undefined;
    const limit = given === true ? beside : given;
    if (typeof limit !== 'number') return part.refuse(name, 'a number');
    return (value, run) => isWithin(value, limit) || run.fail(name, `${part.path}/${name}`, { limit });
  });
}

function limit<Of extends 'string' | 'array' | 'object'>(
  kind: Of,
  name: string,
  isWithin: (value: Parameters<SchemaRule<Of>>[0], limit: number, run: SchemaRun) => boolean,
): Keyword {
  return keyword(kind, name, (part) => {
    const given = part.schema[name];
    if (typeof given !== 'number' || given < 0) return part.refuse(name, 'a number from 0');
    return (value, run) => isWithin(value, given, run) || run.fail(name, `${part.path}/${name}`, { limit: given });
  });
}

/** Compares a value in a time that does not depend on the number of allowed values. */
function oneOfThese(allowed: readonly Json[]): (value: Json, run: SchemaRun) => boolean {
  const scalars = new Set(allowed.filter(isScalar));
  const others = new Set(allowed.filter((one) => !isScalar(one)).map(identity));
  return (value, run) => {
    if (isScalar(value)) return scalars.has(value);
    if (others.size === 0) return false;
    readAll(value, run);
    return others.has(identity(value));
  };
}

/** Each item is hashed once, instead of comparing all pairs. */
function areUnique(items: readonly Json[], run: SchemaRun, path: string): boolean {
  readAll(items as Json, run);
  const places = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const name = identity(item);
    const j = places.get(name);
    if (j !== undefined) return run.fail('uniqueItems', path, { i, j });
    places.set(name, i);
  }
  return true;
}

function hasAll(value: JsonObject, names: readonly string[], run: SchemaRun, path: string): boolean {
  return every(
    names,
    run,
    (missingProperty) => Object.hasOwn(value, missingProperty) || run.fail('required', path, { missingProperty }),
  );
}

/** Whether all of them pass; continues after the first failure only if every problem is wanted. */
function every<Item>(items: readonly Item[], { findsAll }: SchemaRun, test: (item: Item) => boolean): boolean {
  let isFit = true;
  for (const item of items) {
    if (test(item)) continue;
    isFit = false;
    if (!findsAll) break;
  }
  return isFit;
}

/** Counts the parts that the value fits, up to `enough`. If it fits one, the problems of the others are dropped. */
function fittingAmong(parts: readonly SchemaNode[], value: Json, run: SchemaRun, enough: number): number {
  const before = run.errors.length;
  let count = 0;
  for (const node of parts) {
    if (run.fits(node, value)) count += 1;
    if (count === enough) break;
  }
  if (count > 0) run.errors.length = before;
  return count;
}

function partsIn(part: SchemaPart, name: string): SchemaNode[] {
  return listIn(part, name).map((schema, at) => part.inner(schema, name, String(at)));
}

function listIn(part: SchemaPart, name: string): readonly Json[] {
  const list = part.schema[name];
  return Array.isArray(list) ? list : part.refuse(name, 'a list');
}

function entriesIn(part: SchemaPart, name: string): [string, Json][] {
  const { [name]: given = {} } = part.schema;
  return isObject(given) ? Object.entries(given) : part.refuse(name, 'an object');
}

function namesIn(part: SchemaPart, given: Json | undefined, name: string): readonly string[] {
  if (!Array.isArray(given) || !given.every((one) => typeof one === 'string')) {
    return part.refuse(name, 'a list of names');
  }
  part.addWeight(given.length / MEMBERS_A_LOOK);
  return given as string[];
}

/** Division of non-integers is not exact: 19.99 is a multiple of 0.01. */
function isMultiple(value: number, divisor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0;
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.abs(quotient);
}

/** Reading a long value counts as several checks. */
function readAll(value: Json, { effort }: SchemaRun): void {
  effort.look(jsonSize(value) / BYTES_A_LOOK);
}

function keysOf(value: JsonObject, { effort }: SchemaRun): readonly string[] {
  const keys = Object.keys(value);
  effort.look(keys.length);
  return keys;
}

/** JSON Schema counts characters, not code units. */
function codePoints(text: string, { effort }: SchemaRun): number {
  effort.look(text.length / CHARACTERS_A_LOOK);
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) {
      pairs += 1;
      at += 1;
    }
  }
  return text.length - pairs;
}

const TYPES: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', isObject],
  ['array', (value) => Array.isArray(value)],
  ['null', (value) => value === null],
]);
const TYPE_NAMES = `${[...TYPES.keys()].join(', ')} or a list of them`;
/** The number of names, bytes or characters that count as one check. */
const MEMBERS_A_LOOK = 8;
const BYTES_A_LOOK = 4;
const CHARACTERS_A_LOOK = 16;

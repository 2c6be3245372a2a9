import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { covers, formatPath, type Path, type PathSegment } from '@dragoman/protocols/a2e-workflow';
import { NOWHERE, type Origin, originBelow, originOfParts, originWith } from './origin.ts';
import { dataError } from './step-error.ts';
import { namesIn, pathBelow } from './stored-name.ts';

/** A recorded write, so that it can be repeated on another model. */
export interface DataWrite {
  readonly path: Path;
  readonly value: Json;
  readonly origin: Origin;
}

/**
 * The data shared by the operations of one execution (A2E, Data Model): a tree of JSON values below `/workflow`,
 * `/store` and `/loop`; below `/store` the first step is a whole name. Values are never changed, only replaced, and
 * their containers are copied. So a step keeps what it has read, and a fork needs no copy.
 */
export class DataModel {
  #roots: Roots;
  /** The origin of each written value, by the keys of its path. */
  readonly #origins: Map<string, { readonly path: Path; readonly origin: Origin }>;
  readonly #log: DataWrite[] | undefined;

  constructor(roots: Roots = {}, origins = new Map<string, { path: Path; origin: Origin }>(), log?: DataWrite[]) {
    this.#roots = roots;
    this.#origins = origins;
    this.#log = log;
  }

  /** The value at a path; `undefined` when it does not exist. */
  find(path: Path): Json | undefined {
    let value: Json | undefined = this.#roots[path.root];
    for (const segment of this.#placed(path).segments) {
      if (value === undefined) return undefined;
      value = below(value, segment);
    }
    return value;
  }

  /** The origin of the value at a path, including when only a part or a container of it was written. */
  origin(given: Path): Origin {
    const path = this.#placed(given);
    const exact = this.#origins.get(keyOf(path));
    if (exact !== undefined) return exact.origin;
    const parts: Origin[] = [];
    let outer: { readonly path: Path; readonly origin: Origin } | undefined;
    for (const record of this.#origins.values()) {
      if (covers(path, record.path)) parts.push(originBelow(record.origin, record.path, path));
      else if (covers(record.path, path) && (outer?.path.keys.length ?? 0) < record.path.keys.length) outer = record;
    }
    if (outer !== undefined) return originBelow(outer.origin, path, outer.path);
    return parts.length === 0 ? NOWHERE : originOfParts(parts);
  }

  /** The deepest existing place on the way to a path, for error messages. */
  above(path: Path): { readonly place: string; readonly value: Json; readonly next: string } | undefined {
    const [root, ...keys] = this.#placed(path).keys;
    let value = this.#roots[path.root];
    for (const [index, key] of keys.entries()) {
      const inner = value === undefined ? undefined : member(value, key);
      if (value !== undefined && inner === undefined && index > 0) {
        return { place: `/${[root, ...keys.slice(0, index)].join('/')}`, value, next: key };
      }
      value = inner;
    }
    return undefined;
  }

  write(path: Path, value: Json, origin: Origin): void {
    const tree = this.#roots[path.root] ?? EMPTY;
    this.#roots = { ...this.#roots, [path.root]: putBelow(tree, path, value) };
    this.#record(path, origin);
    this.#log?.push({ path, value, origin });
  }

  /** Removes the value at a path. */
  remove(path: Path): void {
    const [, name = ''] = path.keys;
    const tree = this.#roots[path.root];
    if (path.keys.length !== 2 || !isObject(tree)) return;
    this.#roots = { ...this.#roots, [path.root]: withoutMember(tree, name) };
    this.#origins.delete(keyOf(path));
  }

  /** Whether a stored value with this name was loaded or written. */
  hasStored(name: string): boolean {
    const { store } = this.#roots;
    return isObject(store) && Object.hasOwn(store, name);
  }

  /** A fork of this model; later writes are independent. */
  fork(): { readonly model: DataModel; readonly writes: readonly DataWrite[] } {
    const writes: DataWrite[] = [];
    return { model: new DataModel(this.#roots, new Map(this.#origins), writes), writes };
  }

  /** The written paths, each with the operation that wrote it, for error messages. */
  written(): ReadonlyMap<string, string> {
    return new Map([...this.#origins.values()].map(({ path, origin }) => [formatPath(path), origin.by]));
  }

  /** Below `/store`, makes the longest existing name the first step of the path. */
  #placed(path: Path): Path {
    const name = path.root === 'store' ? namesIn(path).find((each) => this.hasStored(each)) : undefined;
    return name === undefined ? path : pathBelow(name, path);
  }

  #record(path: Path, origin: Origin): void {
    for (const [key, record] of this.#origins) {
      if (record.path === path || covers(path, record.path)) this.#origins.delete(key);
      else if (covers(record.path, path)) {
        this.#origins.set(key, { path: record.path, origin: originWith(record.origin, path, origin) });
      }
    }
    this.#origins.set(keyOf(path), { path, origin });
  }
}

type Roots = { readonly [Root in Path['root']]?: Json };

/** A segment is tried as one literal key first, then part by part (A2E, Path Syntax). */
function below(value: Json, { literal, parts }: PathSegment): Json | undefined {
  const whole = member(value, literal);
  if (whole !== undefined || parts.length === 1) return whole;
  let current: Json | undefined = value;
  for (const part of parts) {
    if (current === undefined) return undefined;
    current = member(current, part);
  }
  return current;
}

function member(value: Json, key: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return value[indexOf(key)];
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The array index that a key spells in JSON Pointer form; -1 for anything else, including `length`. */
function indexOf(key: string | number): number {
  if (typeof key === 'number') return key;
  return INDEX.test(key) ? Number(key) : -1;
}

/** A copy of a tree in which the path has the value. Most paths are one name right below the root. */
function putBelow(tree: Json, path: Path, value: Json): Json {
  const [first] = path.segments;
  if (first === undefined) throw new Error('a path has a segment');
  if (path.segments.length === 1 && first.parts.length === 1 && isObject(tree))
    return withMember(tree, first.literal, value);
  return put(tree, first, path.segments.slice(1), value, path);
}

/** A copy of `target` with the value at `segment` and `rest` below it. */
function put(target: Json, segment: PathSegment, rest: readonly PathSegment[], value: Json, path: Path): Json {
  const isLiteral = segment.parts.length === 1 || member(target, segment.literal) !== undefined;
  return putParts(target, isLiteral ? [segment.literal] : segment.parts, rest, value, path);
}

function putParts(
  target: Json,
  [part = '', ...parts]: readonly (string | number)[],
  rest: readonly PathSegment[],
  value: Json,
  path: Path,
): Json {
  const inner = (current: Json | undefined): Json => {
    const [next] = parts;
    if (next !== undefined)
      return putParts(current ?? (typeof next === 'number' ? [] : EMPTY), parts, rest, value, path);
    const [segment, ...others] = rest;
    return segment === undefined ? value : put(current ?? EMPTY, segment, others, value, path);
  };
  if (Array.isArray(target)) {
    const index = indexOf(part);
    // Arrays have no holes: the index must be that of an item, or the next one.
    if (index < 0 || index > target.length || index > HIGHEST_INDEX) throw badIndex(path, part, target.length);
    const copy = target.slice();
    copy[index] = inner(target[index]);
    return copy;
  }
  if (!isObject(target)) {
    const got = target === null ? 'null' : `a ${typeof target}`;
    throw dataError(`${formatPath(path)} cannot be written: what is before ${JSON.stringify(part)} is ${got}`, {
      suggestions: ['write to a separate path'],
    });
  }
  const key = String(part);
  return withMember(target, key, inner(member(target, key)));
}

function badIndex(path: Path, part: string | number, length: number) {
  const highest = Math.min(length, HIGHEST_INDEX);
  return dataError(
    `${formatPath(path)} cannot be written: ${JSON.stringify(part)} is not an index from 0 to ${highest}`,
    {
      details: { length },
      suggestions: [length === 0 ? 'write index 0 first' : `write /${highest} to append`],
    },
  );
}

/** A copy with one more member. It has no prototype that a name could reach. */
function withMember(target: JsonObject, key: string, value: Json): JsonObject {
  const copy: JsonObject = Object.create(null);
  for (const name in target) copy[name] = target[name] as Json;
  copy[key] = value;
  return copy;
}

function withoutMember(target: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = target;
  return Object.assign(Object.create(null), rest);
}

function keyOf(path: Path): string {
  let key = KEYS.get(path);
  if (key === undefined) {
    key = path.keys.join('/');
    KEYS.set(path, key);
  }
  return key;
}

/** Keys by path, because the paths of a plan are used in every run. */
const KEYS = new WeakMap<Path, string>();

const INDEX = /^(?:0|[1-9]\d{0,5})$/;
const HIGHEST_INDEX = 100_000;
const EMPTY: JsonObject = Object.freeze(Object.create(null));

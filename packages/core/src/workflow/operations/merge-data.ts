import { isObject, type Json, type JsonObject, show } from '@dragoman/protocols';
import { formatPath, type MergeDataConfig, OPERATIONS, type Path } from '@dragoman/protocols/a2e-workflow';
import { deepEqual, identity } from '../../json/equality.ts';
import { wrongShape } from '../input.ts';
import { memoryOfMembers } from '../memory-need.ts';
import type { Operation } from '../operation.ts';
import { dataError } from '../step-error.ts';

/** Joins several arrays, or several objects, into one (A2E, MergeData). */
export const mergeData: Operation<MergeDataConfig> = {
  description: OPERATIONS.MergeData,
  cacheFor: 60,
  compile({ sources, strategy }, compiling) {
    const paths = sources.map(compiling.path);
    const merge = Object.hasOwn(STRATEGIES, strategy) ? STRATEGIES[strategy] : undefined;
    if (merge === undefined) compiling.problem('/strategy', `strategy ${show(strategy)} is unknown`);
    return (step) => {
      const values = paths.map((path) => step.read(path));
      const bytes = paths.reduce((total, path) => total + step.bytesAt(path), 2);
      step.account.reserve(bytes);
      step.boundedBy(bytes);
      if (values.every(Array.isArray)) {
        if (merge?.arrays !== concat) step.askMemory(memoryOfMembers(countOf(values)));
        return merge?.arrays(values) ?? null;
      }
      if (values.every(isObject) && merge?.objects !== undefined) {
        step.askMemory(memoryOfMembers(countOf(values.map(Object.keys))));
        return merge.objects(values);
      }
      throw unlike(paths, values, merge?.objects !== undefined);
    };
  },
};

interface Strategy {
  readonly arrays: (sources: readonly Json[][]) => Json;
  /** `undefined` when the strategy is for arrays only. */
  readonly objects: ((sources: readonly JsonObject[]) => Json) | undefined;
}

const concat = (sources: readonly Json[][]): Json[] => sources.flat();

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  concat: { arrays: concat, objects: undefined },
  union: { arrays: union, objects: (sources) => Object.assign(blank(), ...sources.toReversed()) },
  intersect: { arrays: intersection, objects: commonMembers },
  deepMerge: { arrays: itemByItem, objects: mergedDeep },
  merge: { arrays: concat, objects: mergedDeep },
};

function countOf(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((total, { length }) => total + length, 0);
}

/** Every element once, at its first position. */
function union(sources: readonly Json[][]): Json[] {
  const known = new Map<string, Json>();
  for (const source of sources) {
    for (const item of source) {
      const id = identity(item);
      if (!known.has(id)) known.set(id, item);
    }
  }
  return [...known.values()];
}

/** The elements of the first source that all other sources contain, each once. */
function intersection([first = [], ...others]: readonly Json[][]): Json[] {
  const sets = others.map((source) => new Set(source.map(identity)));
  const found = new Map<string, Json>();
  for (const item of first) {
    const id = identity(item);
    if (!found.has(id) && sets.every((set) => set.has(id))) found.set(id, item);
  }
  return [...found.values()];
}

function commonMembers([first = blank(), ...others]: readonly JsonObject[]): Json {
  const common = Object.entries(first).filter(([name, value]) =>
    others.every((other) => Object.hasOwn(other, name) && deepEqual(other[name] as Json, value)),
  );
  return Object.assign(blank(), Object.fromEntries(common));
}

/** Elements of the same index are merged, later sources win. */
function itemByItem(sources: readonly Json[][]): Json[] {
  const merged: Json[] = [];
  for (const source of sources) {
    for (const [index, item] of source.entries()) {
      merged[index] = index < merged.length ? mergedTwo(merged[index] as Json, item) : item;
    }
  }
  return merged;
}

function mergedDeep(sources: readonly JsonObject[]): Json {
  return sources.reduce((merged, source) => mergedObjects(merged, source), blank());
}

/** Merges two objects member by member. Of any other two values, including arrays, the later one wins. */
function mergedTwo(one: Json, other: Json): Json {
  return isObject(one) && isObject(other) ? mergedObjects(one, other) : other;
}

/** A new object: neither source is changed. */
function mergedObjects(one: JsonObject, other: JsonObject): JsonObject {
  const merged = new Map(Object.entries(one));
  for (const [name, value] of Object.entries(other)) {
    const before = merged.get(name);
    merged.set(name, before === undefined ? value : mergedTwo(before, value));
  }
  return Object.fromEntries(merged);
}

function blank(): JsonObject {
  return Object.create(null);
}

/** The error of sources that are neither all arrays nor all objects. */
function unlike(paths: readonly Path[], values: readonly Json[], takesObjects: boolean) {
  const expected = takesObjects ? 'an array or an object, as all the other sources are' : 'an array';
  const at = values.findIndex((value) => (takesObjects ? !isCollection(value) : !Array.isArray(value)));
  const [path, value] = [paths[at], values[at]];
  if (path !== undefined && value !== undefined)
    return wrongShape(path, expected, value, takesObjects ? isCollection : Array.isArray);
  const kinds = paths.map((other, index) => `${formatPath(other)} is ${show(values[index])}`).join(', ');
  return dataError(`sources must be all arrays or all objects; ${kinds}`, {
    suggestions: ['name what in the objects is the array, or merge the arrays and the objects each by themselves'],
  });
}

function isCollection(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

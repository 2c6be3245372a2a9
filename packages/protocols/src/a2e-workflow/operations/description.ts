import type { Json, JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { pointerTo } from '../../pointer.ts';
import type { JsonSchema } from '../../schema.ts';
import type { Validator } from '../../validation.ts';

/** One operation as data, for the reader, the checker and the engine. */
export interface OperationDescription {
  /** One sentence for catalogues and documentation. */
  readonly summary: string;
  readonly category: 'api' | 'call' | 'data' | 'storage' | 'control' | 'time' | 'text' | 'math';
  /** The closed shape of its configuration. */
  readonly schema: JsonSchema;
  /** Compiled from the schema. Validators of built-in operations are compiled ahead of time. */
  readonly validate?: Validator;
  /** The members with a meaning beyond their shape. */
  readonly members: readonly Member[];
  /** Other spellings of a value that are read as the spec's own. */
  readonly aliases?: readonly Alias[];
  /** Rules beyond the schema. Pointers are relative to the configuration. */
  readonly inspect?: (config: JsonObject) => readonly Issue[];
}

/** One place of a configuration and its role. `*` in `at` stands for every item or member. */
export type Member = { readonly at: string } & (
  | {
      readonly is: 'input';
      readonly needs?: ShapeRule;
      /** For an input that is tested for existence: the list of operations that run only if the value exists. */
      readonly presentIn?: (config: JsonObject) => string | undefined;
    }
  | {
      readonly is: 'output';
      readonly gives?: ShapeRule;
      /** Whether the operation can turn a non-empty array into an empty one. */
      readonly empties?: (config: JsonObject) => boolean;
      /** The whole result can also be read one step below, under this name. */
      readonly alsoAt?: (config: JsonObject) => string | undefined;
    }
  /** The path for a Loop's current item. */
  | { readonly is: 'item' }
  /** The id of an operation to run: in a branch, or once for each item. */
  | { readonly is: 'target'; readonly runs: 'branch' | 'each' }
  /** A dotted field name inside the input. */
  | { readonly is: 'field' }
  | { readonly is: 'url' }
  /** A text with `{/path}`; with `fields` also `{field}`. */
  | { readonly is: 'template'; readonly fields?: true }
  /** A literal, a text with `{/path}`, `{path}` or `{credentialRef}`. */
  | { readonly is: 'value'; readonly place: CredentialPlace }
  /** A literal or `{path}`. */
  | { readonly is: 'comparand'; readonly needs?: ShapeRule }
  /** JSON with `{path}` and templates at every depth; it must not contain secrets. */
  | { readonly is: 'json' }
  /** The name of the tool, agent or workflow to call, which must be in this list of the caller's permissions. */
  | { readonly is: 'callee'; readonly list: CalleeList }
  /** The name under which StoreData keeps its input; readable below `/store/`. */
  | { readonly is: 'key' }
  /** The key of stored data to read. */
  | { readonly is: 'stored-key' }
  /** A duration in milliseconds: exact, or the most it may be. */
  | { readonly is: 'duration'; readonly bound: 'exact' | 'most' }
);

/** The lists of permissions that name what an operation can call. */
export type CalleeList = 'tools' | 'agents' | 'workflows';

/** The places of a request that can carry a secret. */
export type CredentialPlace = 'header' | 'query' | 'body';

/** The statically known kind of a value. */
export type Shape = 'array' | 'object' | 'string' | 'number' | 'boolean' | 'null';

/** The possible shapes, or a function of the configuration; `undefined` is any. */
export type ShapeRule = readonly Shape[] | ((config: JsonObject, pointer: string) => readonly Shape[] | undefined);

export interface Alias {
  readonly at: string;
  /** The spec's spelling of `value`; `undefined` when it needs none. */
  readonly canonical: (value: Json) => Json | undefined;
}

/** Reads other spellings of a value as the spec's: `{ groupBy: 'group' }`. */
export function renamed(at: string, words: Readonly<Record<string, string>>): Alias {
  return {
    at,
    canonical: (value) => (typeof value === 'string' && Object.hasOwn(words, value) ? words[value] : undefined),
  };
}

/** Accepts one value where the spec has a list. */
export function wrapped(at: string): Alias {
  return { at, canonical: (value) => (typeof value === 'string' ? [value] : undefined) };
}

/** The issue if a field is missing that the value of another field requires. */
export function requires(config: JsonObject, name: string, because: string): readonly Issue[] {
  if (Object.hasOwn(config, name)) return [];
  return [{ pointer: pointerTo('', name), code: 'required', message: `${name} is required ${because} but missing` }];
}

import type { Json, JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { pointerTo } from '../../pointer.ts';
import type { JsonSchema } from '../../schema.ts';
import type { Validator } from '../../validation.ts';

/** Everything the reader, the checker and the engine need to know about one operation, as data. */
export interface OperationDescription {
  /** One sentence for catalogues and documentation. */
  readonly summary: string;
  readonly category: 'api' | 'call' | 'data' | 'storage' | 'control' | 'time' | 'text' | 'math';
  /** The closed shape of its configuration. */
  readonly schema: JsonSchema;
  /** Compiled from the schema. Built-in operations have theirs ahead of time; a server's own bring it along. */
  readonly validate?: Validator;
  /** The members that mean something beyond their shape. */
  readonly members: readonly Member[];
  /** Other spellings of a value that are read as the spec's own. */
  readonly aliases?: readonly Alias[];
  /** What a schema cannot say in words a person understands. Pointers are relative to the configuration. */
  readonly inspect?: (config: JsonObject) => readonly Issue[];
}

/** One place of a configuration, and the part it plays. `*` in `at` stands for every item or member. */
export type Member = { readonly at: string } & (
  | {
      readonly is: 'input';
      readonly needs?: ShapeRule;
      /** It asks whether there is something: the list of operations that run when there is. */
      readonly presentIn?: (config: JsonObject) => string | undefined;
    }
  | {
      readonly is: 'output';
      readonly gives?: ShapeRule;
      /** Whether it can leave an empty array of one that was not. */
      readonly empties?: (config: JsonObject) => boolean;
      /** The whole result can also be read below this name. */
      readonly alsoAt?: (config: JsonObject) => string | undefined;
    }
  /** Where a Loop puts the current item. */
  | { readonly is: 'item' }
  /** The id of an operation it runs: in one of its branches, or once for each item. */
  | { readonly is: 'target'; readonly runs: 'branch' | 'each' }
  /** A dotted field name inside the data it reads. */
  | { readonly is: 'field' }
  | { readonly is: 'url' }
  /** A text with `{/path}`; with `fields` also `{field}`. */
  | { readonly is: 'template'; readonly fields?: true }
  /** A literal, a text with `{/path}`, `{path}` or `{credentialRef}`. */
  | { readonly is: 'value'; readonly place: CredentialPlace }
  /** A literal or `{path}`. */
  | { readonly is: 'comparand'; readonly needs?: ShapeRule }
  /** JSON with `{path}` and templates at every depth; no secret may stand in it. */
  | { readonly is: 'json' }
  /** The name of something it calls, which this list of the caller's permissions has to name. */
  | { readonly is: 'callee'; readonly list: CalleeList }
  /** The name under which StoreData keeps its input; readable below `/store/`. */
  | { readonly is: 'key' }
  /** The name under which something was kept that it reads. */
  | { readonly is: 'stored-key' }
  /** Milliseconds it takes: exactly so many, or at most. */
  | { readonly is: 'duration'; readonly bound: 'exact' | 'most' }
);

/** The lists of permissions that name what an operation can call. */
export type CalleeList = 'tools' | 'agents' | 'workflows';

/** Where a request can carry a secret. */
export type CredentialPlace = 'header' | 'query' | 'body';

/** What kind of value data is, as far as that is known before anything runs. */
export type Shape = 'array' | 'object' | 'string' | 'number' | 'boolean' | 'null';

/** The shapes possible, or a function of the configuration that says; `undefined` is any. */
export type ShapeRule = readonly Shape[] | ((config: JsonObject, pointer: string) => readonly Shape[] | undefined);

export interface Alias {
  readonly at: string;
  /** The spec's spelling of `value`; `undefined` when it needs none. */
  readonly canonical: (value: Json) => Json | undefined;
}

/** Reads words of other dialects as the spec's: `{ groupBy: 'group' }`. */
export function renamed(at: string, words: Readonly<Record<string, string>>): Alias {
  return {
    at,
    canonical: (value) => (typeof value === 'string' && Object.hasOwn(words, value) ? words[value] : undefined),
  };
}

/** Reads one value where the spec has a list. */
export function wrapped(at: string): Alias {
  return { at, canonical: (value) => (typeof value === 'string' ? [value] : undefined) };
}

/** A field that this choice of another field needs. */
export function requires(config: JsonObject, name: string, because: string): readonly Issue[] {
  if (Object.hasOwn(config, name)) return [];
  return [{ pointer: pointerTo('', name), code: 'required', message: `${name} is required ${because} but missing` }];
}

import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';

/** The kinds of things that can be found. */
export const THING_TYPES = ['operation', 'api', 'endpoint', 'tool', 'workflow', 'document'] as const;
export type ThingType = (typeof THING_TYPES)[number];

/** One searchable entry. */
export interface Thing {
  readonly type: ThingType;
  /** Its own among all of its type. */
  readonly id: string;
  readonly name: string;
  /** Its description and use, in sentences. */
  readonly text: string;
  /** Its context, in a few words. */
  readonly context?: string;
  /** The key of the thing it is a part of, which is not returned beside it. */
  readonly partOf?: string;
  /** The knowledge base it is in. */
  readonly baseId?: string;
  /** The data for using it: returned with a hit, not searched. */
  readonly details: JsonObject;
  /** Of an operation, its schema: returned on request. */
  readonly schema?: JsonSchema;
}

/** A source of entries. A new kind of entry is one source and one line in the list of sources. */
export interface Source {
  readonly type: ThingType;
  /** Increases when the result of `things` changes. */
  readonly version: number;
  things(): Iterable<Thing>;
  /** Whether a caller may use it; others cannot find it. */
  permits(principal: Principal, thing: Thing): boolean;
}

/** One string for a thing, such that no two things share it. */
export function keyOf({ type, baseId = '', id }: Pick<Thing, 'type' | 'baseId' | 'id'>): string {
  return JSON.stringify([type, baseId, id]);
}

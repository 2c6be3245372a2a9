import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';

/** The kinds of things that can be found. */
export const THING_TYPES = ['operation', 'api', 'endpoint', 'tool', 'workflow', 'document'] as const;
export type ThingType = (typeof THING_TYPES)[number];

/** One thing that can be found, in the words by which it is. */
export interface Thing {
  readonly type: ThingType;
  /** Its own among all of its type. */
  readonly id: string;
  readonly name: string;
  /** What it is and what it is good for, in sentences. */
  readonly text: string;
  /** What it is part of, in a few words. */
  readonly context?: string;
  /** The key of the thing it is a part of, which is not returned beside it. */
  readonly partOf?: string;
  /** The knowledge base it is in. */
  readonly baseId?: string;
  /** What a caller needs to use it: returned with a hit, not searched. */
  readonly details: JsonObject;
  /** Of an operation, its schema: returned on request. */
  readonly schema?: JsonSchema;
}

/** Where things to find come from. One more kind of thing is one of these, and a line where they are listed. */
export interface Source {
  readonly type: ThingType;
  /** Grows whenever `things` gives something else. */
  readonly version: number;
  things(): Iterable<Thing>;
  /** Whether a caller may use it; who may not, cannot find it either. */
  permits(principal: Principal, thing: Thing): boolean;
}

/** One string for a thing, such that no two things share it. */
export function keyOf({ type, baseId = '', id }: Pick<Thing, 'type' | 'baseId' | 'id'>): string {
  return JSON.stringify([type, baseId, id]);
}

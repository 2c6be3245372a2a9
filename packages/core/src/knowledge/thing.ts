import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';

/** The kinds of things that can be found. */
export const THING_TYPES = ['operation', 'api', 'endpoint', 'tool', 'workflow', 'document'] as const;
export type ThingType = (typeof THING_TYPES)[number];

/** One searchable entry. */
export interface Thing {
  readonly type: ThingType;
  /** Unique within the type and the knowledge base. */
  readonly id: string;
  readonly name: string;
  /** Its description and use, in sentences. */
  readonly text: string;
  /** Its context, in a few words. */
  readonly context?: string;
  /** The key of the thing that contains this one. A search that returns the part leaves out the whole. */
  readonly partOf?: string;
  /** The knowledge base of a document. */
  readonly baseId?: string;
  /** The data for using it: returned with a hit, not searched. */
  readonly details: JsonObject;
  /** The schema of an operation. Returned on request. */
  readonly schema?: JsonSchema;
}

/** A source of entries. A new kind of entry is one source and one line in the list of sources. */
export interface Source {
  readonly type: ThingType;
  /** Increases when the result of `things` changes. */
  readonly version: number;
  things(): Iterable<Thing>;
  /** Whether a caller may use the thing. Other callers cannot find it. */
  permits(principal: Principal, thing: Thing): boolean;
}

/** A string that no other thing has. */
export function keyOf({ type, baseId = '', id }: Pick<Thing, 'type' | 'baseId' | 'id'>): string {
  return JSON.stringify([type, baseId, id]);
}

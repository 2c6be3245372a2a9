import type { E2AEnvelope, E2AResponse } from '@dragoman/protocols';
import type { Call } from './call.ts';

/**
 * Everything that answers an envelope. The frames it yields are numbered from 0 and end with exactly one final frame.
 * What keeps it from starting at all (no permission, no such agent) it throws as `Refused`, when it is called or before the
 * first frame. A layer that only looks at the way in hands the inner iterable on as it is: each one that passes every frame
 * through its own hands costs as much as the frame.
 */
export type Handler = (envelope: E2AEnvelope, call: Call) => AsyncIterable<E2AResponse>;

/** Everything that wraps a handler. */
export type Layer = (next: Handler) => Handler;

/** The handler inside its layers; the first is the outermost. */
export function layered(handler: Handler, layers: readonly Layer[]): Handler {
  return layers.reduceRight((next, layer) => layer(next), handler);
}

import type { E2AEnvelope, E2AResponse } from '@dragoman/protocols';
import type { Call } from './call.ts';

/**
 * Everything that answers an envelope. The frames it yields are numbered from 0 and end with exactly one final frame.
 * If it cannot start (no permission, unknown agent), it throws `Refused`, when it is called or before the
 * first frame. A layer that only looks at the way in hands the inner iterable on as it is: each one that passes every frame
 * through its own hands costs as much as the frame. `Frames` is what it really returns: a `Reading` where the frames are
 * recorded.
 */
export type Handler<Frames extends AsyncIterable<E2AResponse> = AsyncIterable<E2AResponse>> = (
  envelope: E2AEnvelope,
  call: Call,
) => Frames;

/** Everything that wraps a handler. */
export type Layer = (next: Handler) => Handler;

/** A layer that only looks at the way in: what it wraps answers as before. */
export type Check = <Frames extends AsyncIterable<E2AResponse>>(next: Handler<Frames>) => Handler<Frames>;

/** The handler inside its layers; the first is the outermost. */
export function layered(handler: Handler, layers: readonly Layer[]): Handler {
  return layers.reduceRight((next, layer) => layer(next), handler);
}

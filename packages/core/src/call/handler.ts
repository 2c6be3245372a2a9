import type { E2AEnvelope, E2AResponse } from '@dragoman/protocols';
import type { Call } from './call.ts';

/**
 * Anything that answers an envelope. The frames that it yields are numbered from 0 and end with exactly one final
 * frame. If it cannot start (no permission, unknown agent), it throws `Refused`, when it is called or before the first
 * frame. A layer that only checks requests returns the inner iterable itself, because passing each frame on would cost
 * as much as the frame. `Frames` is the type of the iterable: a `Reading` if the frames are recorded.
 */
export type Handler<Frames extends AsyncIterable<E2AResponse> = AsyncIterable<E2AResponse>> = (
  envelope: E2AEnvelope,
  call: Call,
) => Frames;

/** Everything that wraps a handler. */
export type Layer = (next: Handler) => Handler;

/** A layer that only checks or changes the request, and keeps the type of the answer. */
export type Check = <Frames extends AsyncIterable<E2AResponse>>(next: Handler<Frames>) => Handler<Frames>;

/** The handler inside its layers; the first is the outermost. */
export function layered(handler: Handler, layers: readonly Layer[]): Handler {
  return layers.reduceRight((next, layer) => layer(next), handler);
}

import type { E2AEnvelope, E2AResponse } from '@dragoman/protocols';
import { DragomanError } from './dragoman-error.ts';
import type { Place } from './place.ts';
import type { RetryPauses } from './retry.ts';
import type { Transport } from './transport.ts';

export interface ResumableExchange {
  readonly requestId: string;
  /** The request; absent if another program sent it and only the answer is read. */
  readonly envelope: E2AEnvelope | undefined;
  readonly transport: Transport;
  readonly place: Place;
  /**
   * The sequence of the last frame that the reader already has. That frame is read again, because it may be the final
   * one.
   */
  readonly has?: number;
  readonly backoff: RetryPauses;
  readonly signal: AbortSignal | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly onReconnect?: ((event: Reconnect) => void) | undefined;
}

/** Passed to `onReconnect` before every retry. */
export interface Reconnect {
  readonly requestId: string;
  /** The error that caused the retry. */
  readonly error: DragomanError;
  readonly waitMs: number;
  /** The sequence of the last frame that was received; -1 if there is none. */
  readonly after: number;
}

/**
 * The frames of one answer, over as many connections as needed:
 *
 *   send ──broke──▶ pause ──▶ resume after the last frame ──broke──▶ pause ──▶ resume …
 *    ▲                          │
 *    └── not known there (404) ─┘
 *
 * Sending again is safe: the id is the same, so what was accepted is not done twice.
 */
export async function* resumed(
  exchange: ResumableExchange,
  step: 'send' | 'resume',
): AsyncGenerator<E2AResponse, void> {
  const { place, backoff, signal, onReconnect, requestId } = exchange;
  let next = step;
  for (;;) {
    let failed: DragomanError;
    try {
      for await (const frame of attempt(exchange, next)) {
        if (frame === undefined) backoff.progress();
        else if (place.takes(frame)) {
          backoff.progress();
          yield frame;
          if (place.isAtEnd) return;
        }
      }
      failed = brokenOff(requestId);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof DragomanError)) throw error;
      failed = error;
    }
    if (next === 'resume' && failed.is('not_found')) {
      if (place.after >= 0) throw lost(requestId, place.after, failed);
      if (exchange.envelope === undefined) throw failed;
      next = 'send';
      continue;
    }
    const waitMs = backoff.next(failed);
    onReconnect?.({ requestId, error: failed, waitMs, after: place.after });
    await backoff.wait(waitMs, signal);
    next = 'resume';
  }
}

function attempt(
  { transport, envelope, requestId, place, signal, idempotencyKey }: ResumableExchange,
  step: 'send' | 'resume',
) {
  return step === 'send' && envelope !== undefined
    ? transport.send(envelope, { signal, idempotencyKey })
    : transport.resume(requestId, { signal, after: place.after });
}

function brokenOff(requestId: string): DragomanError {
  return new DragomanError({
    code: 'unreachable',
    message: 'The stream ended before the final frame.',
    retryable: true,
    suggestions: ['check whether a proxy in front of the server cuts off long answers'],
    requestId,
  });
}

/**
 * The error for a request that was partly answered and then removed. Sent again, it would run a second time, and two
 * answers would be mixed.
 */
function lost(requestId: string, after: number, cause: DragomanError): DragomanError {
  return new DragomanError({
    code: 'not_found',
    message: `The server no longer has request ${requestId}; frames 0 to ${after} were received.`,
    status: cause.status,
    suggestions: ['send it under a new id; a server with `store: memory` forgets everything when it stops'],
    requestId,
    cause,
  });
}

import type { E2AEnvelope, E2AResponse } from '@dragoman/protocols';

/**
 * How requests reach the server. Each call is one attempt. It yields frames, or `undefined` for a keepalive, and throws
 * a `DragomanError` if it is refused or breaks. It may end before the final frame.
 */
export interface Transport {
  send(envelope: E2AEnvelope, options: SendAttempt): AsyncGenerator<E2AResponse | undefined>;
  resume(requestId: string, options: ResumeAttempt): AsyncGenerator<E2AResponse | undefined>;
}

export interface SendAttempt {
  readonly signal: AbortSignal | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface ResumeAttempt {
  readonly signal: AbortSignal | undefined;
  /** The sequence of the last frame that the reader has; -1 if there is none. */
  readonly after: number;
}

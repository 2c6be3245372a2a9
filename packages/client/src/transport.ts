import type { E2AEnvelope, E2AResponse } from '@dragoman/protocols';

/**
 * One way to the server. Each call is one try: it gives frames, `undefined` as a sign of life, and throws a
 * `DragomanError` when it is refused or breaks. It may end before the final frame.
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
  /** The sequence of the last frame the reader has; -1 for none. */
  readonly after: number;
}

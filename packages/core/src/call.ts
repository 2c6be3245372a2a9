import type { Log } from './ports.ts';
import type { Principal } from './principal.ts';

/** The context of one running request. */
export interface Call {
  readonly principal: Principal;
  /** Aborts when the request is cancelled, runs out of time, or the server stops. */
  readonly signal: AbortSignal;
  /** Ends the call for this reason; `signal` then aborts with it. Absent before the call runs. */
  readonly end?: (reason: Error) => void;
  readonly log: Log;
  /** The caller's `Idempotency-Key`. */
  readonly idempotencyKey?: string;
  /** The door has counted it against the caller's limits already, to tell them in its answer. */
  readonly counted?: boolean;
  /** Read the answer from after this sequence; -1 or absent is from the start. */
  readonly after?: number;
}

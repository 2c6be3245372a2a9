import type { Clock } from '../ports/ports.ts';
import type { DueDelivery, OutboxStore } from '../store/store.ts';
import { webhookHeaders } from './signature.ts';
import type { SigningKeys } from './signing-keys.ts';

/** A callback that is ready to be sent. Its headers have the time of the try and the signatures. */
export interface PreparedDelivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Epoch milliseconds at which it was read. */
  readonly at: number;
}

export interface Preparing {
  readonly due: DueDelivery;
  /** The agent whose shared secret also signs it; absent for a sender without one. */
  readonly agentId: string | undefined;
  /** Whether it is prepared before its turn, so that signing may wait for a thread. */
  readonly isAhead: boolean;
}

/** Reads a callback and signs it; `undefined` when it is not due any more. */
export async function prepare(
  { due: { id, messageId }, agentId, isAhead }: Preparing,
  { store, keys, clock }: { readonly store: OutboxStore; readonly keys: SigningKeys; readonly clock: Clock },
): Promise<PreparedDelivery | undefined> {
  const at = clock.now().getTime();
  const body = await store.dueBody(id);
  if (body === undefined) return undefined;
  const timestamp = Math.floor(clock.now().getTime() / 1000);
  return { body, headers: await webhookHeaders({ messageId, timestamp, body, agentId, isAhead }, keys), at };
}

/**
 * Whether it may be sent unchanged. An older one has another time than the try, and may have been deleted from the
 * store since.
 */
export function isFresh({ at }: PreparedDelivery, clock: Clock): boolean {
  const age = clock.now().getTime() - at;
  return age >= 0 && age <= FRESH_MS;
}

const FRESH_MS = 1000;

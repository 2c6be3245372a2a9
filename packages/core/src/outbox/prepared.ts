import type { Clock } from '../ports/ports.ts';
import type { DueDelivery, OutboxStore } from '../store/store.ts';
import { webhookHeaders } from './signature.ts';
import type { SigningKeys } from './signing-keys.ts';

/** A callback that can be sent: its body, and what signs it with the time of this try. */
export interface PreparedDelivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** When it was read, in milliseconds. */
  readonly at: number;
}

export interface Preparing {
  readonly due: DueDelivery;
  /** The agent whose shared secret signs it. */
  readonly agentId: string | undefined;
  /** Others are sent in the meantime: it may wait for a thread. */
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

/** Whether it still may be sent as it is: it may have been forgotten since, and its time is that of the try. */
export function isFresh({ at }: PreparedDelivery, clock: Clock): boolean {
  const age = clock.now().getTime() - at;
  return age >= 0 && age <= FRESH_MS;
}

const FRESH_MS = 1000;

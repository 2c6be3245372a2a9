import { isPassingStatus, retryAfterMs } from '@dragoman/protocols';
import type { StopSignal } from '../ending/ending.ts';
import type { Gate, InboundAnswer } from '../gate/gate.ts';
import type { Clock } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import type { DeliveryFailure, DueDelivery } from '../store/store.ts';
import type { PreparedDelivery } from './prepared.ts';

/** The result of one try. `answered`: whether the host answered; `undefined` when no request was sent. */
export type DeliveryVerdict =
  | { readonly outcome: 'delivered'; readonly answered: true }
  /** HTTP 410: the receiver wants nothing any more. */
  | { readonly outcome: 'gone'; readonly answered: true; readonly failure: DeliveryFailure }
  /** It cannot be sent or has expired, so no request was sent. */
  | { readonly outcome: 'given-up'; readonly answered: undefined; readonly failure: DeliveryFailure }
  /** The host name was not resolved in time, which does not count as a try. */
  | { readonly outcome: 'postponed'; readonly answered: undefined; readonly failure: DeliveryFailure }
  | {
      readonly outcome: 'failed';
      readonly answered: boolean;
      readonly failure: DeliveryFailure;
      /** Whether another attempt may succeed. */
      readonly retry: boolean;
      readonly retryAfterMs?: number;
    };

export interface DeliveryAttempt {
  readonly due: DueDelivery;
  readonly prepared: PreparedDelivery;
  /** The time limit. It is shortened when the callback expires earlier. */
  readonly timeoutMs: number;
  readonly signal: StopSignal;
}

/** Sends a callback once, through the gate (A2A mailbox, Callback Delivery). Rejects only when the signal aborts. */
export async function attempt(
  { due, prepared: { body, headers }, timeoutMs, signal }: DeliveryAttempt,
  { gate, clock }: { readonly gate: Gate; readonly clock: Clock },
): Promise<DeliveryVerdict> {
  // The clock is read directly before sending, so that no expired callback is sent.
  const now = clock.now().getTime();
  const left = due.expiresAt === null ? timeoutMs : due.expiresAt - now;
  if (left <= 0) return { outcome: 'given-up', answered: undefined, failure: { at: now, reason: EXPIRED } };
  try {
    const answer = await gate.request({
      caller: due.owner,
      method: 'POST',
      url: due.url,
      allowList: 'callbacks',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'dragoman',
        ...headers,
      },
      body: { bytes: Buffer.from(body) },
      timeoutMs: Math.min(timeoutMs, left),
      maxBytes: MAX_BYTES,
      signal,
    });
    const verdict = verdictOn(answer, clock.now());
    if (answer.isOver !== true) await letGo(answer, clock);
    return verdict;
  } catch (error) {
    if (signal.aborted) throw error;
    const known = failureOf(error);
    const reason = known?.message ?? (error instanceof Error ? error.message : String(error));
    const failure = { at: clock.now().getTime(), reason };
    if (known?.details['looked_up'] === false) return { outcome: 'postponed', answered: undefined, failure };
    return {
      outcome: 'failed',
      answered: false,
      failure,
      // A URL that the gate forbids stays forbidden; an unreachable host may come back.
      retry: known === undefined || known.retryable,
    };
  }
}

function verdictOn({ status, headers }: InboundAnswer, now: Date): DeliveryVerdict {
  if (status >= 200 && status < 300) return { outcome: 'delivered', answered: true };
  const at = now.getTime();
  const redirects = status >= 300 && status < 400;
  const reason = redirects ? `HTTP ${status}: a redirect is not followed` : `HTTP ${status}`;
  const failure = { at, reason, status };
  if (status === 410) return { outcome: 'gone', answered: true, failure };
  const wait = retryAfterMs(headers['retry-after'], now);
  // "Non-2xx or timeout = retry", except that an error of the request itself would repeat.
  const retry = status < 400 || isPassingStatus(status);
  return { outcome: 'failed', answered: true, failure, retry, ...(wait !== undefined && { retryAfterMs: wait }) };
}

/**
 * Discards the body. A short one is read, so that the connection can be used again; a long or slow one closes the
 * connection.
 */
async function letGo(answer: InboundAnswer, clock: Clock): Promise<void> {
  const iterator = answer.body[Symbol.asyncIterator]();
  await new Promise<void>((done) => {
    const cancel = clock.after(PATIENCE_MS, () => {
      // `drain` cannot close the connection while it waits for the next chunk.
      answer.end?.();
      done();
    });
    drain(iterator)
      .catch(() => {})
      .finally(() => {
        cancel();
        done();
      });
  });
  Promise.resolve(iterator.return?.()).catch(() => {});
}

async function drain(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  let bytes = 0;
  for (let item = await iterator.next(); item.done !== true; item = await iterator.next()) {
    bytes += item.value.length;
    if (bytes >= MAX_BYTES) return;
  }
}

/** The recorded reason of a delivery that expired. */
export const EXPIRED = 'it expired before it was delivered';

const MAX_BYTES = 4096;
const PATIENCE_MS = 250;

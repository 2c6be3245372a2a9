import type { Clock, Principal } from '@dragoman/core';
import { addressGroup } from './address.ts';

/**
 * How much each sender may send over open connections, as two token buckets: messages and bytes, each with room for a minute's
 * amount. A sender past it is read no further until `delay` has passed. Peers that have not proven who they are have a hundredth of
 * both, all of one address together: they need a few messages to do so.
 */
export class MessageRates {
  readonly #clock: Clock;
  readonly #messageMs: number;
  readonly #byteMs: number;
  /** Only senders whose buckets are not full: addresses are unbounded. */
  readonly #used = new Map<string, Used>();
  #prunedAt: number;

  constructor({
    clock,
    messagesPerMinute = MESSAGES_PER_MINUTE,
    bytesPerMinute = BYTES_PER_MINUTE,
  }: MessageRateOptions) {
    this.#clock = clock;
    this.#messageMs = MINUTE_MS / messagesPerMinute;
    this.#byteMs = MINUTE_MS / bytesPerMinute;
    this.#prunedAt = clock.elapsed();
  }

  /** How many senders are remembered. */
  get size(): number {
    return this.#used.size;
  }

  count(sender: string, { messages, bytes }: { readonly messages: number; readonly bytes: number }): void {
    const now = this.#clock.elapsed();
    if (now - this.#prunedAt >= MINUTE_MS) this.#prune(now);
    const used = this.#used.get(sender);
    const weight = sender.startsWith(UNPROVEN) ? UNPROVEN_WEIGHT : 1;
    this.#used.set(sender, {
      messages: Math.max(used?.messages ?? now, now) + weight * messages * this.#messageMs,
      bytes: Math.max(used?.bytes ?? now, now) + weight * bytes * this.#byteMs,
    });
  }

  /** Milliseconds until more may be read from this sender; 0 for at once. */
  delay(sender: string): number {
    const used = this.#used.get(sender);
    if (used === undefined) return 0;
    const room = sender.startsWith(UNPROVEN) ? UNPROVEN_ROOM_MS : MINUTE_MS;
    return Math.max(0, Math.max(used.messages, used.bytes) - this.#clock.elapsed() - room);
  }

  #prune(now: number): void {
    this.#prunedAt = now;
    for (const [sender, { messages, bytes }] of this.#used) {
      if (messages <= now && bytes <= now) this.#used.delete(sender);
    }
  }
}

/** The account of the messages: the caller's, or that of its address before the caller is known. */
export function senderOf(principal: Principal | undefined, address: string): string {
  return principal === undefined ? `${UNPROVEN}${addressGroup(address)}` : `caller ${principal.id}`;
}

export interface MessageRateOptions {
  readonly clock: Clock;
  readonly messagesPerMinute?: number;
  readonly bytesPerMinute?: number;
}

/** When each bucket is full again, on the clock of `elapsed`. */
interface Used {
  readonly messages: number;
  readonly bytes: number;
}

export const MESSAGES_PER_MINUTE = 600_000;
export const BYTES_PER_MINUTE = 1024 * 1024 * 1024;
const MINUTE_MS = 60_000;
const UNPROVEN = 'address ';
const UNPROVEN_WEIGHT = 100;
/** A burst may have as many messages as this time allows. */
const UNPROVEN_ROOM_MS = 6_000;

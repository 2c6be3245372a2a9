import type { Clock, Principal } from '@dragoman/core';
import { addressGroup } from './address.ts';

/**
 * Limits how much each sender may send over open connections, with two token buckets: messages and bytes, each with
 * room for the amount of a minute. A sender over its rate is not read until `delay` has passed. Peers without a proven
 * identity have a hundredth of both rates, shared by all at one address: they need only a few messages to prove who
 * they are.
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

  /** The number of senders whose buckets are not full. */
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

/** Whom a message is counted for: the caller, or the address as long as the caller is unknown. */
export function senderOf(principal: Principal | undefined, address: string): string {
  return principal === undefined ? `${UNPROVEN}${addressGroup(address)}` : `caller ${principal.id}`;
}

export interface MessageRateOptions {
  readonly clock: Clock;
  readonly messagesPerMinute?: number;
  readonly bytesPerMinute?: number;
}

/** When each bucket will be full again, as a time of `clock.elapsed()`. */
interface Used {
  readonly messages: number;
  readonly bytes: number;
}

export const MESSAGES_PER_MINUTE = 600_000;
export const BYTES_PER_MINUTE = 1024 * 1024 * 1024;
const MINUTE_MS = 60_000;
const UNPROVEN = 'address ';
const UNPROVEN_WEIGHT = 100;
/** The size of the buckets of an unproven sender: what its rate allows in this time. */
const UNPROVEN_ROOM_MS = 6_000;

/** The limits of one connection and of all together. Milliseconds and counts. */
export interface WireLimits {
  /** Requests that run at the same time. */
  readonly maxParallel: number;
  /** Requests that may wait for a place; more are refused as `busy`. */
  readonly maxQueued: number;
  /** For the handshake, from the moment of connecting. */
  readonly handshakeMs: number;
  /** A connection without a word for this long is closed, unless something of it runs; 0 for never. */
  readonly idleMs: number;
  /** For what is running when an agent ends its side. */
  readonly drainMs: number;
  /** The longest a shutdown may take, whatever the agent asks. */
  readonly maxDrainMs: number;
  /** Of all agents together. */
  readonly maxConnections: number;
  /** Of one caller, and before they are known of all from one address; never more than a quarter of all. */
  readonly maxPerCaller: number;
  /** Bytes of a message. An answer may have 8 MiB in any case: who takes little in may still say what everybody reads. */
  readonly maxMessageBytes: number;
}

/** Of a message that we send. */
export function mostBytesIn({ maxMessageBytes }: WireLimits): number {
  return Math.max(maxMessageBytes, EVERYBODY_READS);
}

/** The bytes of a text that has more than that; `undefined` when it has not. */
export function bytesPast(text: string, most: number): number | undefined {
  // A character has three bytes at most, and nearly every message is short.
  if (text.length * 3 <= most) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > most ? bytes : undefined;
}

/** The default line limit of readers: a longer line would not reach them. */
const EVERYBODY_READS = 8 * 1024 * 1024;

export const DEFAULT_WIRE_LIMITS: WireLimits = {
  maxParallel: 16,
  maxQueued: 64,
  handshakeMs: 5_000,
  idleMs: 300_000,
  drainMs: 10_000,
  maxDrainMs: 300_000,
  maxConnections: 1_000,
  maxPerCaller: 1_000,
  maxMessageBytes: EVERYBODY_READS,
};

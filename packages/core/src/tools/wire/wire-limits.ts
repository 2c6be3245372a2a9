/** The limits of one connection and of all together. Milliseconds and counts. */
export interface WireLimits {
  /** Requests of one connection that run concurrently. */
  readonly maxParallel: number;
  /** Requests of one connection that may wait; more are refused as `busy`. */
  readonly maxQueued: number;
  /** The time for the handshake, from the moment of connecting. */
  readonly handshakeMs: number;
  /** A connection that is silent for this long, with nothing running, is closed; 0 for never. */
  readonly idleMs: number;
  /** The time for running requests when an agent closes its side. */
  readonly drainMs: number;
  /** The longest shutdown that an agent may request. */
  readonly maxDrainMs: number;
  /** Connections of all agents together. */
  readonly maxConnections: number;
  /** Connections of one caller, and of one address before the handshake; at most a quarter of all. */
  readonly maxPerCaller: number;
  /** Bytes of a received message. Sent messages may have 8 MiB in any case, which all readers accept. */
  readonly maxMessageBytes: number;
}

/** Maximum bytes of a message that we send. */
export function mostBytesIn({ maxMessageBytes }: WireLimits): number {
  return Math.max(maxMessageBytes, EVERYBODY_READS);
}

/** The bytes of a text if they exceed `most`, otherwise `undefined`. */
export function bytesPast(text: string, most: number): number | undefined {
  // A UTF-16 code unit has at most three bytes, so most texts need not be measured.
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

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Clock } from '@dragoman/core';
import type { HeldBytes } from './unproven-budget.ts';

/** One HTTP request as Node parsed it, with its body read or discarded under limits. */
export class HttpRequest {
  readonly method: string;
  readonly target: string;
  /** By lower-case name. The values of a repeated field are joined with commas. */
  readonly headers: IncomingHttpHeaders;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.method = message.method ?? '';
    this.target = message.url ?? '';
    this.headers = message.headers;
  }

  get httpVersion(): string {
    return this.#message.httpVersion;
  }

  get fieldCount(): number {
    return this.#message.rawHeaders.length / 2;
  }

  /** The address at the other end of the connection. */
  get peer(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  /** Whether the request has arrived completely. */
  get isReceived(): boolean {
    return this.#message.complete;
  }

  /** The whole body, a fault as soon as it exceeds a limit, or `undefined` when the peer disconnects before its end. */
  readBody({ maxBytes, held, raise }: BodyLimit): Promise<Uint8Array | BodyFault | undefined> {
    const message = this.#message;
    return new Promise((resolve) => {
      let most = maxBytes;
      const announced = Number(message.headers['content-length'] ?? Number.POSITIVE_INFINITY);
      let canRaise = raise !== undefined;
      // One buffer that doubles: an array of one-byte chunks would need far more memory.
      let room: Buffer = NOTHING;
      let size = 0;
      const stop = (fault: BodyFault) => {
        message.off('data', take).pause();
        room = NOTHING;
        resolve(fault);
      };
      const take = (chunk: Buffer) => {
        const length = size + chunk.length;
        if (length > most && canRaise) {
          canRaise = false;
          most = raise?.(Buffer.concat([room.subarray(0, size), chunk], maxBytes)) ?? most;
        }
        if (length > most) return stop('too_large');
        if (length > room.length) {
          const capacity = size === 0 ? length : Math.min(Math.max(length, 2 * room.length), most, announced);
          if (held?.set(capacity) === false) return stop('no_room');
          room = size === 0 ? chunk : grown(room.subarray(0, size), capacity);
        }
        if (size > 0) chunk.copy(room, size);
        size = length;
      };
      const giveUp = () => resolve(undefined);
      if (message.destroyed) giveUp();
      message
        .on('data', take)
        .on('end', () => resolve(room.subarray(0, size)))
        .on('close', giveUp)
        .on('error', giveUp);
    });
  }

  /**
   * Reads and discards the rest of the body for a short time after the answer was written. Closing a socket with unread
   * bytes resets the connection, and the reset can overtake the answer: the peer would not see why it was refused.
   */
  discardBody({ clock, bytes, ms }: DiscardLimit): Promise<void> {
    const message = this.#message;
    return new Promise((resolve) => {
      const timer = new AbortController();
      let size = 0;
      const stop = () => {
        message.off('data', count).off('end', stop).off('close', stop);
        message.pause();
        timer.abort();
        resolve();
      };
      const count = (chunk: Buffer) => {
        size += chunk.length;
        if (size > bytes) stop();
      };
      message.on('error', ignore).on('data', count).on('end', stop).on('close', stop).resume();
      clock.wait(ms, timer.signal).then(stop, ignore);
    });
  }
}

export interface BodyLimit {
  readonly maxBytes: number;
  /** The memory budget of unproven senders. Absent for a known caller. */
  readonly held?: HeldBytes | undefined;
  /**
   * Called once for a body longer than `maxBytes`, with its first `maxBytes` bytes. Returns the higher limit that this
   * beginning proves, if any.
   */
  readonly raise?: ((start: Uint8Array) => number | undefined) | undefined;
}

/** `no_room`: the budget for unproven senders is used up. */
export type BodyFault = 'too_large' | 'no_room';

export interface DiscardLimit {
  readonly clock: Clock;
  readonly bytes: number;
  readonly ms: number;
}

function grown(bytes: Buffer, capacity: number): Buffer {
  const room = Buffer.allocUnsafeSlow(capacity);
  bytes.copy(room);
  return room;
}

function ignore(): void {}

const NOTHING = Buffer.alloc(0);

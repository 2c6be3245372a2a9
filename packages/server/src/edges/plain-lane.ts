import type { Socket } from 'node:net';
import type { HttpLimits } from './limits.ts';
import { PlainOutlet } from './plain-outlet.ts';
import { PlainReader, type PlainRequest } from './plain-request.ts';

export interface PlainLaneOptions {
  readonly socket: Socket;
  readonly limits: HttpLimits;
  readonly date: () => string;
  readonly take: (request: PlainRequest, outlet: PlainOutlet) => void;
  /** The peer has connected and said nothing for as long as it may. */
  readonly onSilence: () => void;
  /** From here on the connection is Node's, with these bytes first. */
  readonly handOver: (bytes: Buffer) => void;
}

/**
 * A connection as long as what comes on it is plain (see `PlainRequest`). The first thing that is not, be it a body that is
 * still on its way, goes to Node with everything behind it, as soon as what came before has been answered.
 */
export class PlainLane {
  readonly #options: PlainLaneOptions;
  readonly #reader: PlainReader;
  readonly #idleMs: number;
  /** Of the requests that are not answered yet, in their order. */
  readonly #open: PlainOutlet[] = [];
  /** What is for Node, while there are such; nothing more is read meanwhile. */
  #rest: Buffer | undefined;
  #hasSpoken = false;
  #hasEnded = false;

  constructor(options: PlainLaneOptions) {
    const { socket, limits } = options;
    this.#options = options;
    this.#idleMs = limits.keepAliveMs + GRACE_MS;
    const { maxHeaderBytes, maxHeaderFields } = limits;
    this.#reader = new PlainReader({ peer: socket.remoteAddress, maxHeaderBytes, maxHeaderFields });
    socket.setTimeout(limits.headersMs);
    socket.on('data', this.#take).on('end', this.#end).on('timeout', this.#checkSilence);
    socket.on('error', ignore).on('close', this.#close);
  }

  readonly #take = (chunk: Buffer): void => {
    const { socket } = this.#options;
    if (!this.#hasSpoken) {
      this.#hasSpoken = true;
      socket.setTimeout(this.#idleMs);
    }
    // Too many at once, and the connection is gone.
    for (let from = 0; from < chunk.length && !socket.destroyed; ) {
      const found = this.#reader.read(chunk, from);
      if (found === undefined) {
        this.#rest = from === 0 ? chunk : chunk.subarray(from);
        if (this.#open.length === 0) this.#handOver();
        else socket.pause();
        return;
      }
      this.#answer(found.request);
      from = found.end;
    }
  };

  #answer(request: PlainRequest): void {
    const { socket, limits, date, take } = this.#options;
    const outlet = new PlainOutlet({
      socket,
      date,
      keepAliveSeconds: Math.floor(limits.keepAliveMs / 1000),
      stallMs: limits.stallMs,
      idleMs: this.#idleMs,
      onOver: this.#goOn,
    });
    this.#open.push(outlet);
    take(request, outlet);
  }

  readonly #goOn = (): void => {
    this.#open.shift();
    if (this.#open.length > 0) return;
    // Not from within the end of an answer: what that holds is given back only then.
    if (this.#rest !== undefined) process.nextTick(this.#handOver);
    else if (this.#hasEnded) this.#options.socket.destroySoon();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    if (this.#open.length === 0) this.#options.socket.end();
  };

  readonly #checkSilence = (): void => {
    const { socket, onSilence } = this.#options;
    if (!this.#hasSpoken) onSilence();
    // Whoever waits for an answer may be silent; whoever does not take it is gone.
    else if (this.#open.length === 0 || socket.writableLength > 0) socket.destroy();
  };

  readonly #close = (): void => {
    for (const outlet of [...this.#open]) outlet.over(false);
  };

  readonly #handOver = (): void => {
    const { socket, handOver } = this.#options;
    const bytes = this.#rest;
    // After an answer that was the last, what was sent ahead is not looked at.
    if (bytes === undefined || !socket.writable) return;
    socket.off('data', this.#take).off('end', this.#end).off('timeout', this.#checkSilence);
    socket.off('error', ignore).off('close', this.#close);
    socket.setTimeout(0);
    socket.resume();
    handOver(bytes);
  };
}

function ignore(): void {}

/** A peer that keeps to what it was told must not find the connection closed under its next request. */
const GRACE_MS = 1_000;

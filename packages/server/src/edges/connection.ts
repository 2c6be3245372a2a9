import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Clock, type Principal, stringOf, type UnreadAccount } from '@dragoman/core';
import { type Failure, failure, LONG_TEXT } from '@dragoman/protocols';
import type { RawData, WebSocket } from 'ws';
import type { Connection, Reserved } from '../http/route.ts';
import type { CallerPlaces } from './caller-places.ts';
import { FrameTracker } from './frame-tracker.ts';
import type { Intake } from './intake.ts';
import type { SocketLimits } from './limits.ts';
import { type MessageRates, senderOf } from './message-rates.ts';
import type { HeldBytes } from './unproven-budget.ts';

/**
 * One WebSocket as routes see it, with limits that RFC 6455 leaves open: silence, unfinished messages, floods, slow
 * readers.
 */
export class ServedSocket implements Connection {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  readonly messages: AsyncIterable<string>;
  readonly principal: Principal | undefined;

  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #clock: Clock;
  readonly #limits: SocketLimits;
  readonly #places: CallerPlaces;
  readonly #unreadBudget: UnreadAccount | undefined;
  readonly #abort = new AbortController();
  readonly #tracker = new FrameTracker();
  readonly #rates: MessageRates;
  /** The sender that messages are counted for. */
  #sender: string;
  /** Set until the peer has proven its identity. */
  #unproven: { readonly maxBytes: number; readonly held: HeldBytes } | undefined;

  /**
   * Messages that the route has not read: text, or bytes for a long message, because decoding it at once would delay
   * all peers.
   */
  readonly #unread: (string | Buffer)[] = [];
  #taken = 0;
  #unreadLength = 0;
  #reader: ((result: Read | Promise<Read>) => void) | undefined;
  #hasEnded = false;

  readonly #waiting: Sending[] = [];
  #inSocket = 0;
  #bufferedBytes = 0;
  /** Since when the operating system has accepted none of the waiting bytes. */
  #stalledSince: number | undefined;

  #pingedAt: number;
  #isAlive = true;
  #pings = 0;
  #pingWindowAt: number;

  constructor(parts: SocketParts) {
    const { webSocket, socket, clock, limits } = parts;
    this.path = parts.path;
    this.params = parts.params;
    this.query = parts.query;
    this.headers = parts.headers;
    this.address = parts.address;
    this.principal = parts.principal;
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#clock = clock;
    this.#limits = limits;
    this.#places = parts.places;
    this.#unreadBudget = parts.unread;
    if (parts.principal === undefined) {
      const { unproven } = parts.intake;
      this.#unproven = { maxBytes: unproven.messageBytes, held: unproven.hold(parts.address) };
    }
    this.#rates = parts.intake.rates;
    this.#sender = senderOf(parts.principal, parts.address);
    this.#pingedAt = clock.elapsed();
    this.#pingWindowAt = clock.elapsed();
    this.messages = { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) };

    const follow = (chunk: Buffer) => {
      this.#isAlive = true;
      this.#limitMessage();
      this.#tracker.feed(chunk, clock.elapsed());
      this.#holdBytes();
    };
    // Must run before the library's own listener, which keeps the bytes and unmasks them in place.
    socket.prependListener('data', follow);
    webSocket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    webSocket.on('ping', () => this.#countPing());
    webSocket.on('pong', () => this.#countPing());
    // The library already closes the connection with the code of the error.
    webSocket.on('error', (error) => this.abort(error));
    webSocket.on('close', () => {
      socket.off('data', follow);
      this.#unproven?.held.release();
      this.abort();
      this.#unreadBudget?.close();
    });
  }

  get subprotocol(): string | undefined {
    return this.#webSocket.protocol === '' ? undefined : this.#webSocket.protocol;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  send(text: string): Promise<void> {
    if (this.#waiting.length >= this.#limits.maxWaitingSends)
      this.close(1013, 'reading too slowly: reconnect and resume');
    if (this.#isClosing()) {
      this.abort();
      return Promise.reject(new Error(GONE));
    }
    return new Promise((resolve, reject) => {
      const bytes = Buffer.byteLength(text);
      this.#bufferedBytes += bytes;
      this.#waiting.push({ text, bytes, resolve, reject });
      this.#unreadBudget?.sent(bytes);
      this.#flush();
    });
  }

  welcome(principal: Principal): void {
    this.#sender = senderOf(principal, this.address);
    this.#unproven?.held.release();
    this.#unproven = undefined;
  }

  reserve(): Reserved | Failure {
    const { principal } = this;
    if (principal === undefined) return failure('unauthenticated');
    const crowded = this.#places.take(principal);
    return crowded ?? { release: () => this.#places.giveBack(principal) };
  }

  close(code: number, reason = ''): void {
    this.endMessages();
    this.#webSocket.close(code, reason);
  }

  /** Discards unread messages and passes no further ones to the route, which can still send. */
  endMessages(): void {
    this.#unread.length = 0;
    this.#unreadLength = 0;
    this.#end();
    // Without reading, the pongs and the close frame of the peer would not be seen.
    this.#webSocket.resume();
  }

  /**
   * Aborts when the peer is gone or the route must stop at once; with `fault`, if the peer broke a rule. Earlier
   * messages can still be read.
   */
  abort(fault?: Error): void {
    if (this.#abort.signal.aborted) return;
    this.#end();
    this.#abort.abort(fault);
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(GONE));
  }

  terminate(): void {
    this.abort();
    this.#webSocket.terminate();
  }

  /** Applies the time limits. Called every `checkMs`. */
  check(): void {
    const now = this.#clock.elapsed();
    const { messageMs, stallMs, pingMs } = this.#limits;
    if (this.#isClosing()) return;
    const { since } = this.#tracker;
    // While reading is paused, the rest of the message waits on our side.
    if (since !== undefined && now - since >= messageMs && !this.#webSocket.isPaused) {
      this.close(1008, 'the message was not finished in time');
      this.abort();
    } else if (this.#stalledSince !== undefined && now - this.#stalledSince >= stallMs) {
      this.terminate();
    } else if (now - this.#pingedAt >= pingMs) {
      if (!this.#isAlive && !this.#webSocket.isPaused) {
        this.terminate();
        return;
      }
      this.#isAlive = false;
      this.#pingedAt = now;
      this.#webSocket.ping();
    }
  }

  /**
   * Refuses a message that is too long for a peer without a proven identity, before more of it is read. While the route
   * is busy with earlier messages, one of which may be the proof, reading is paused instead.
   */
  #limitMessage(): void {
    if (this.#unproven === undefined || this.#tracker.messageBytes <= this.#unproven.maxBytes) return;
    if (this.#reader === undefined) this.#webSocket.pause();
    else this.#refuseTooLong();
  }

  /** Checks a message when the route takes it, because a message that arrived in one read was not checked before. */
  #isTooLong(message: string | Buffer): boolean {
    return this.#unproven !== undefined && message.length > this.#unproven.maxBytes;
  }

  #refuseTooLong(): void {
    this.#turnAway(1009, `more than ${this.#unproven?.maxBytes} bytes before authentication`);
  }

  #holdBytes(): void {
    if (this.#unproven?.held.set(this.#tracker.heldBytes + this.#unreadLength) === false)
      this.#turnAway(1013, 'busy: try again later, or connect with an API key');
  }

  #turnAway(code: number, reason: string): void {
    this.close(code, reason);
    this.abort();
    // The rest of the message is never read.
    this.#webSocket.pause();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#hasEnded) return;
    if (isBinary) {
      this.close(1003, 'text only');
      return;
    }
    // By default the library passes each message as one buffer.
    const bytes = data as Buffer;
    this.#rates.count(this.#sender, { messages: 1, bytes: bytes.length });
    // Short messages are decoded at once: their buffers are slices that would keep a larger one in memory.
    const message = bytes.length > LONG_TEXT ? bytes : bytes.toString();
    if (this.#reader !== undefined) {
      const reader = this.#reader;
      if (this.#isTooLong(message)) this.#refuseTooLong();
      else {
        this.#reader = undefined;
        reader(readResult(message));
      }
      return;
    }
    this.#unread.push(message);
    this.#unreadLength += message.length;
    this.#holdBytes();
    const { maxUnreadMessages, maxBufferedBytes } = this.#limits;
    if (this.#unread.length >= maxUnreadMessages || this.#unreadLength > maxBufferedBytes) this.#webSocket.pause();
  }

  /** Delays a sender that is over its rate. The socket is paused once enough messages are unread. */
  #next(): Promise<Read> {
    const delayMs = this.#hasEnded ? 0 : this.#rates.delay(this.#sender);
    if (delayMs === 0) return this.#take();
    return this.#clock.wait(delayMs, this.signal).then(
      () => this.#next(),
      () => this.#take(),
    );
  }

  #take(): Promise<Read> {
    const message = this.#unread.shift();
    this.#unreadLength -= message?.length ?? 0;
    this.#holdBytes();
    if (this.#webSocket.isPaused && this.#unread.length === 0 && !this.#hasEnded) {
      this.#tracker.readOn(this.#clock.elapsed());
      this.#webSocket.resume();
    }
    if (message !== undefined && this.#isTooLong(message)) this.#refuseTooLong();
    else if (message !== undefined) {
      const result = readResult(message);
      this.#taken += 1;
      // A chunk can contain thousands of messages: after some of them, other connections get their turn.
      return this.#taken % MESSAGES_A_TURN === 0
        ? new Promise((resolve) => setImmediate(() => resolve(result)))
        : Promise.resolve(result);
    }
    if (this.#hasEnded) return Promise.resolve(DONE);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  #end(): void {
    this.#hasEnded = true;
    this.#reader?.(DONE);
    this.#reader = undefined;
  }

  /** Passes waiting messages to the socket up to its limit. A single message may exceed the limit. */
  #flush(): void {
    while (this.#waiting[0] !== undefined && !this.#isClosing()) {
      const { text, bytes, resolve, reject } = this.#waiting[0];
      if (this.#inSocket > 0 && this.#inSocket + bytes > this.#limits.maxBufferedBytes) return;
      this.#waiting.shift();
      this.#inSocket += bytes;
      this.#stalledSince ??= this.#clock.elapsed();
      this.#cork();
      this.#webSocket.send(text, (error) => {
        this.#inSocket -= bytes;
        this.#bufferedBytes -= bytes;
        this.#unreadBudget?.read(bytes);
        this.#stalledSince = this.#inSocket === 0 ? undefined : this.#clock.elapsed();
        // Node reports no error for a write that was cut short because the socket was destroyed.
        if (error || this.#socket.destroyed) {
          this.abort();
          reject(new Error(GONE));
        } else resolve();
        this.#flush();
      });
    }
  }

  /** Messages that are ready together, as the frames of one commit are, go out in one system call. */
  #cork(): void {
    if (this.#socket.writableCorked > 0) return;
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
  }

  /** Limits pings and pongs: each ping needs a pong. */
  #countPing(): void {
    const now = this.#clock.elapsed();
    if (now - this.#pingWindowAt >= this.#limits.pingWindowMs) {
      this.#pingWindowAt = now;
      this.#pings = 0;
    }
    if (++this.#pings <= this.#limits.maxPings || this.#isClosing()) return;
    this.close(1008, 'too many pings');
    this.abort();
  }

  #isClosing(): boolean {
    return this.#webSocket.readyState !== this.#webSocket.OPEN;
  }
}

export interface SocketParts {
  readonly webSocket: WebSocket;
  readonly socket: Duplex;
  readonly clock: Clock;
  readonly limits: SocketLimits;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  readonly principal: Principal | undefined;
  readonly intake: Pick<Intake, 'unproven' | 'rates'>;
  readonly places: CallerPlaces;
  /** Counts the bytes that the peer has not read. */
  readonly unread: UnreadAccount | undefined;
}

type Read = IteratorResult<string, undefined>;

/** A long message is decoded over several turns of the event loop. */
function readResult(message: string | Buffer): Read | Promise<Read> {
  if (typeof message === 'string') return { done: false, value: message };
  return stringOf({ parts: [message] }).then((value) => ({ done: false, value }));
}

interface Sending {
  readonly text: string;
  readonly bytes: number;
  resolve(): void;
  reject(error: Error): void;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
const GONE = 'the connection is closed';
const MESSAGES_A_TURN = 64;

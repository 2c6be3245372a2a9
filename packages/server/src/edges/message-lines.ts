import {
  type Clock,
  type ConnectionPlace,
  ConnectionPlaces,
  type Conversation,
  type MessageAnswer,
  type Messages,
  NO_PLACE,
  type Principal,
  unreadable,
  type WireSink,
} from '@dragoman/core';
import { type Failure, failure, type Outcome } from '@dragoman/protocols';
import { a2aMessagesDialect, MAX_MESSAGE_BYTES } from '@dragoman/protocols/a2a-messages';
import { problemAnswer } from '../http/problem.ts';
import { addressGroup } from './address.ts';
import type { LineConnection, LineHost } from './ndjson-lines.ts';

/** The dependencies of an endpoint for A2A messages, over any transport. */
export interface MessageEndpointOptions {
  readonly messages: Messages;
  readonly clock: Clock;
  /** How long a peer without a key may take to prove its identity. */
  readonly identifyMs: number;
}

export interface MessageLinesOptions extends MessageEndpointOptions {
  /**
   * The connections of one caller, and of one address before the caller is known. Never more than a quarter of all
   * connections.
   */
  readonly maxPerCaller?: number | undefined;
}

/**
 * A2A messages over plain NDJSON: each line is a message, and each answer is one line. Signatures identify the peer.
 */
export class MessageLines implements LineHost {
  readonly #messages: Messages;
  readonly #clock: Clock;
  readonly #identifyMs: number;
  readonly #places: ConnectionPlaces;
  readonly #peers = new Set<LinePeer>();
  #isStopping = false;

  constructor({ messages, clock, identifyMs, maxPerCaller }: MessageLinesOptions) {
    this.#messages = messages;
    this.#clock = clock;
    this.#identifyMs = identifyMs;
    this.#places = new ConnectionPlaces({ maxConnections: MOST_PEERS, maxPerCaller });
  }

  connect(sink: WireSink, _entrance?: unknown, address = ''): LineConnection | undefined {
    const group = addressGroup(address);
    const isFull = this.#isStopping || this.#peers.size >= MOST_PEERS;
    const place = isFull ? undefined : this.#places.take(undefined, group);
    if (place === undefined) {
      sink.send(problemText(failure('busy', { retry_after: 1 }, NO_PLACE)));
      return undefined;
    }
    // Slots are limited, and an unproven peer could keep one without sending.
    const cancel = this.#clock.after(this.#identifyMs, () => peer.leaveUnlessProven());
    const onOver = () => {
      cancel();
      place.giveBack();
      this.#peers.delete(peer);
    };
    const peer = new LinePeer({ messages: this.#messages, sink, address: group, place, onOver });
    this.#peers.add(peer);
    return peer;
  }

  /** Accepts nothing new, and waits up to `drainMs` for running answers. */
  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    const clock = this.#clock;
    this.#isStopping = true;
    const over = new AbortController();
    const answered = Promise.all([...this.#peers].map((peer) => peer.drain()));
    await Promise.race([answered, clock.wait(drainMs, over.signal).catch(() => {})]);
    over.abort();
    for (const peer of this.#peers) peer.lost();
  }
}

class LinePeer implements LineConnection {
  /** Set once a signature has proven the peer's identity. */
  principal: Principal | undefined;
  readonly #conversation: Conversation;
  readonly #sink: WireSink;
  readonly #onOver: () => void;
  readonly #gone = new AbortController();
  readonly #answering = new Set<Promise<void>>();
  readonly #proven: Promise<void>;
  #unanswered = 0;
  #isOver = false;

  constructor({ messages, sink, address, place, onOver }: LinePeerParts) {
    let onProven = () => {};
    this.#proven = new Promise((resolve) => {
      onProven = resolve;
    });
    this.#conversation = messages.converse({
      address,
      seat: (principal) => {
        this.principal = principal;
        onProven();
        return place.belongsTo(principal);
      },
      send: (answer) => this.#say(answer),
      signal: this.#gone.signal,
    });
    this.#sink = sink;
    this.#onOver = onOver;
  }

  get isUnproven(): boolean {
    return !this.#conversation.isProven;
  }

  receiveLine(line: Outcome<Uint8Array>): Promise<unknown> | undefined {
    if (this.#isOver || this.#conversation.isClosed) return undefined;
    const isTooMuch = this.#answering.size >= MOST_ANSWERS || this.#unanswered > MOST_UNANSWERED_BYTES;
    if (!line.ok || isTooMuch) {
      this.#say({ failure: line.ok ? failure('busy', { retry_after: 1 }) : unreadable(line.issues) });
      return undefined;
    }
    const { length } = line.value;
    this.#unanswered += length;
    const answering = this.#conversation.take(line.value).then((answer) => {
      this.#unanswered -= length;
      this.#answering.delete(answering);
      this.#say(answer);
      if (this.#conversation.isClosed) void this.drain();
    });
    this.#answering.add(answering);
    return this.isUnproven ? Promise.race([answering, this.#proven]) : undefined;
  }

  /** The peer has closed its sending side. It still gets its answers. */
  end(): void {
    void this.drain();
  }

  lost(): void {
    this.#gone.abort();
    this.#over();
  }

  leaveUnlessProven(): void {
    if (this.#isOver || this.#conversation.isProven) return;
    this.#say({ failure: failure('unauthenticated') });
    this.lost();
  }

  async drain(): Promise<void> {
    await Promise.all(this.#answering);
    this.#over();
  }

  #say(answer: MessageAnswer): void {
    const text = answerText(answer);
    if (text !== undefined && !this.#isOver) this.#sink.send(text);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#gone.abort();
    this.#onOver();
    this.#sink.close();
  }
}

interface LinePeerParts {
  readonly messages: Messages;
  readonly sink: WireSink;
  /** The address that stands for one caller: for IPv6 the /64. */
  readonly address: string;
  readonly place: ConnectionPlace;
  readonly onOver: () => void;
}

/** The answer on a connection: the message, or the problem document for bytes that are not a message. */
export function answerText({ message, failure: refused }: MessageAnswer): string | undefined {
  if (message !== undefined) return JSON.stringify(a2aMessagesDialect.encode(message));
  return refused === undefined ? undefined : problemText(refused);
}

function problemText(refused: Failure): string {
  return JSON.stringify(problemAnswer(refused).json);
}

/**
 * The limits of a connection's unanswered messages: their number, and their bytes, which are those of two of the
 * largest.
 */
export const MOST_ANSWERS = 256;
export const MOST_UNANSWERED_BYTES = 2 * MAX_MESSAGE_BYTES;
const MOST_PEERS = 1_000;

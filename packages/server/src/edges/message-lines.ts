import {
  type Clock,
  type ConnectionPlace,
  ConnectionPlaces,
  type Conversation,
  type Messages,
  NO_PLACE,
  type Principal,
  type Said,
  unreadable,
  type WireSink,
} from '@dragoman/core';
import { type Failure, failure, type Outcome } from '@dragoman/protocols';
import { a2aMessagesDialect, MAX_MESSAGE_BYTES } from '@dragoman/protocols/a2a-messages';
import { problemAnswer } from '../http/problem.ts';
import { addressGroup } from './address.ts';
import type { LineConnection, LineHost } from './ndjson-lines.ts';

/** What a door for A2A messages needs, over whatever transport. */
export interface MessageDoor {
  readonly messages: Messages;
  readonly clock: Clock;
  /** For a peer that came without a key to prove who it is. */
  readonly identifyMs: number;
}

export interface MessageLinesOptions extends MessageDoor {
  /** Connections of one caller, and before they are known of all from one address; never more than a quarter of all. */
  readonly maxPerCaller?: number | undefined;
}

/** A2A messages over plain NDJSON: each line is a message, each answer is one. A peer is known by what it signs. */
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
    // Places are few, and silence costs a stranger nothing.
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

  /** Takes nothing new, and waits this long for answers that are on their way. */
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
  /** Who has signed here. */
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
      send: (said) => this.#say(said),
      signal: this.#gone.signal,
    });
    this.#sink = sink;
    this.#onOver = onOver;
  }

  get isStranger(): boolean {
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
    const answering = this.#conversation.take(line.value).then((said) => {
      this.#unanswered -= length;
      this.#answering.delete(answering);
      this.#say(said);
      if (this.#conversation.isClosed) void this.drain();
    });
    this.#answering.add(answering);
    return this.isStranger ? Promise.race([answering, this.#proven]) : undefined;
  }

  /** The peer says no more; it gets its answers still. */
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

  #say(said: Said): void {
    const text = saidText(said);
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
  /** As far as one caller can hardly leave it. */
  readonly address: string;
  readonly place: ConnectionPlace;
  readonly onOver: () => void;
}

/** What is said on a connection: the message, or what HTTP would say of bytes that are none. */
export function saidText({ message, failure: refused }: Said): string | undefined {
  if (message !== undefined) return JSON.stringify(a2aMessagesDialect.encode(message));
  return refused === undefined ? undefined : problemText(refused);
}

function problemText(refused: Failure): string {
  return JSON.stringify(problemAnswer(refused).json);
}

/** What a connection may have said without an answer: so many messages, and two of the largest. */
export const MOST_ANSWERS = 256;
export const MOST_UNANSWERED_BYTES = 2 * MAX_MESSAGE_BYTES;
const MOST_PEERS = 1_000;

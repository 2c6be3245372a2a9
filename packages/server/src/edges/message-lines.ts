import type { Clock, Conversation, Messages, Said, WireSink } from '@dragoman/core';
import { type Failure, failure, type Issue, type Outcome } from '@dragoman/protocols';
import { a2aMessagesDialect } from '@dragoman/protocols/a2a-messages';
import { problemAnswer } from '../problem.ts';
import type { LineConnection, LineHost } from './ndjson-lines.ts';

/** A2A messages over plain NDJSON: each line is a message, each answer is one. A peer is known by what it signs. */
export class MessageLines implements LineHost {
  readonly #messages: Messages;
  readonly #peers = new Set<LinePeer>();
  #isStopping = false;

  constructor(messages: Messages) {
    this.#messages = messages;
  }

  connect(sink: WireSink): LineConnection | undefined {
    if (this.#isStopping || this.#peers.size >= MOST_PEERS) return undefined;
    const peer = new LinePeer(this.#messages, sink, () => this.#peers.delete(peer));
    this.#peers.add(peer);
    return peer;
  }

  /** Takes nothing new, and waits this long for answers that are on their way. */
  async stop({ drainMs, clock }: { readonly drainMs: number; readonly clock: Clock }): Promise<void> {
    this.#isStopping = true;
    const over = new AbortController();
    const answered = Promise.all([...this.#peers].map((peer) => peer.drain()));
    await Promise.race([answered, clock.wait(drainMs, over.signal).catch(() => {})]);
    over.abort();
    for (const peer of this.#peers) peer.lost();
  }
}

class LinePeer implements LineConnection {
  readonly #conversation: Conversation;
  readonly #sink: WireSink;
  readonly #onOver: () => void;
  readonly #gone = new AbortController();
  readonly #answering = new Set<Promise<void>>();
  #isOver = false;

  constructor(messages: Messages, sink: WireSink, onOver: () => void) {
    this.#conversation = messages.converse({ signal: this.#gone.signal });
    this.#sink = sink;
    this.#onOver = onOver;
  }

  receiveLine(line: Outcome<Uint8Array>): void {
    if (this.#isOver || this.#conversation.isClosed) return;
    const isTooMuch = this.#answering.size >= MOST_ANSWERS;
    if (!line.ok || isTooMuch) {
      this.#say({ failure: line.ok ? failure('busy', { retry_after: 1 }) : unreadable(line.issues) });
      return;
    }
    const answering = this.#conversation.take(line.value).then((said) => {
      this.#answering.delete(answering);
      this.#say(said);
      if (this.#conversation.isClosed) void this.drain();
    });
    this.#answering.add(answering);
  }

  /** The peer says no more; it gets its answers still. */
  end(): void {
    void this.drain();
  }

  lost(): void {
    this.#gone.abort();
    this.#over();
  }

  async drain(): Promise<void> {
    await Promise.all(this.#answering);
    this.#over();
  }

  #say(said: Said): void {
    const text = textOf(said);
    if (text !== undefined && !this.#isOver) this.#sink.send(text);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    this.#sink.close();
  }
}

/** What is said on a connection: the message, or what HTTP would say of bytes that are none. */
export function textOf({ message, failure: refused }: Said): string | undefined {
  if (message !== undefined) return JSON.stringify(a2aMessagesDialect.encode(message));
  return refused === undefined ? undefined : problemText(refused);
}

function unreadable(issues: readonly Issue[]): Failure {
  return failure(issues[0]?.code === 'line_too_long' ? 'line_too_long' : 'not_json', { issues });
}

function problemText(refused: Failure): string {
  return JSON.stringify(problemAnswer(refused).json);
}

const MOST_PEERS = 1_000;
const MOST_ANSWERS = 256;

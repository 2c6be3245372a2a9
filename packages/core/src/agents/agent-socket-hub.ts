import { type E2AEnvelope, type Json, type JsonObject, reject } from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { InOrder } from '../worker-threads/in-order.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { type Agent, type AgentPart, agentFailed } from './agent.ts';
import { EXCERPT_LENGTH, frameTooLarge, MAX_FRAME_BYTES, READ_PAST_LIMIT } from './agent-frame.ts';
import { AwaitedConnections } from './awaited-connections.ts';
import { type OnPush, SharedLine } from './shared-line.ts';
import { connectionLost, socketFault } from './socket-fault.ts';

/** A connection that an agent has opened to this server. */
export interface AgentConnection {
  /** Whole text messages, for one reader. */
  readonly messages: AsyncIterable<string>;
  /** Aborts when the peer is gone, with the error if the peer broke the rules. */
  readonly signal: AbortSignal;
  send(text: string): Promise<void>;
  close(code: number, reason?: string): void;
}

/**
 * Agents that dial in; the endpoint has authenticated them. An agent may be connected more than once, for example when it reconnects
 * before its old connection is found dead; new requests use the newest.
 */
export class AgentSocketHub {
  readonly #options: HubOptions;
  readonly #maxFrameBytes: number;
  readonly #reader: JsonReader;
  readonly #lines = new Map<string, SharedLine[]>();
  readonly #connections = new Set<AgentConnection>();
  /** The agents that requests wait for, by id. */
  readonly #awaited = new AwaitedConnections();

  constructor({ maxFrameBytes = MAX_FRAME_BYTES, reader = new JsonReader(), ...options }: HubOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** The bytes of one message that a connection has to accept, so that a frame that is too large ends only its own request. */
  get maxReadBytes(): number {
    return this.#maxFrameBytes * READ_PAST_LIMIT;
  }

  /** Whether the agent can be reached now. */
  isConnected(id: string): boolean {
    return this.#lines.has(id);
  }

  /** Serves an agent over its connection; resolves when the connection has ended. */
  async attach(id: string, connection: AgentConnection): Promise<void> {
    const sender = new ConnectionSender(connection);
    const line = new SharedLine({ agentId: id, sender, ...this.#options });
    const arrived = new InOrder();
    // Queued behind the frame that is being parsed, so that this frame still counts.
    const lose = () =>
      arrived.push(undefined, () =>
        line.lose(connectionLost(socketFault(connection.signal.reason, this.maxReadBytes))),
      );
    this.#lines.set(id, [...(this.#lines.get(id) ?? []), line]);
    this.#connections.add(connection);
    if (this.#lines.get(id)?.length === 1) this.#options.onChanged?.(id, true);
    this.#awaited.connected(id);
    connection.signal.addEventListener('abort', lose, { once: true });
    try {
      for await (const text of connection.messages) {
        const isTooLarge = isLonger(text, this.#maxFrameBytes);
        const reading = isTooLarge
          ? reject<Json>(frameTooLarge(this.#maxFrameBytes))
          : this.#reader.read(text, { caller: `agent ${id}`, waits: true });
        arrived.push(reading, (frame) => {
          const excerpt = frame.ok ? '' : text.slice(0, EXCERPT_LENGTH);
          line.receive(frame, { bytes: isTooLarge ? excerpt.length : text.length, excerpt });
        });
        if (arrived.waiting !== undefined) await arrived.waiting;
        await line.room();
      }
    } finally {
      this.#connections.delete(connection);
      connection.signal.removeEventListener('abort', lose);
      const others = (this.#lines.get(id) ?? []).filter((other) => other !== line);
      if (others.length === 0) {
        this.#lines.delete(id);
        this.#options.onChanged?.(id, false);
      } else this.#lines.set(id, others);
      lose();
    }
  }

  /** Closes every connection, which ends all requests. */
  close(): void {
    for (const connection of this.#connections) connection.close(GOING_AWAY, 'the server is stopping');
  }

  /** The agent with this id. It can answer while it is connected. */
  agent(id: string): Agent {
    return {
      id,
      answer: (envelope, call) => this.#answer(id, envelope, call),
      whenReachable: () => (this.isConnected(id) ? undefined : this.#awaited.when(id)),
      async [Symbol.asyncDispose]() {},
    };
  }

  async *#answer(id: string, envelope: E2AEnvelope, call: Call): AsyncGenerator<AgentPart, void, undefined> {
    const line = this.#lines.get(id)?.at(-1);
    if (line === undefined) yield agentFailed('The agent is not connected.');
    else yield* line.answer(envelope, call);
  }
}

interface HubOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onPush?: OnPush;
  /** Called when an agent connects, and when its last connection is gone. */
  readonly onChanged?: ((id: string, isConnected: boolean) => void) | undefined;
  /** The limit on the bytes of one frame. */
  readonly maxFrameBytes?: number;
  readonly reader?: JsonReader;
}

/**
 * Whether a text has more bytes than this in UTF-8. A UTF-16 unit takes at most three, so short texts are not counted.
 */
function isLonger(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

/** Counts unsent bytes. A failed send means that the connection is gone; its signal reports that. */
class ConnectionSender {
  readonly #connection: AgentConnection;
  unsentBytes = 0;

  constructor(connection: AgentConnection) {
    this.#connection = connection;
  }

  send(envelope: JsonObject): void {
    const text = JSON.stringify(envelope);
    const sent = () => {
      this.unsentBytes -= text.length;
    };
    this.unsentBytes += text.length;
    this.#connection.send(text).then(sent, sent);
  }
}

/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001;

import { AcpConnection, type Clock, type Engine, engineHub, type Ids, type Log, type Principal } from '@dragoman/core';
import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { MessageQueue } from '../edges/message-queue.ts';
import { VERSION } from '../version.ts';

export interface AcpHttpConnectionOptions {
  readonly id: string;
  readonly principal: Principal;
  readonly agentId: string | undefined;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Counts the characters that no stream has taken yet. */
  readonly account: ConstructorParameters<typeof MessageQueue>[0];
}

/**
 * One ACP client over Streamable HTTP. Messages to the client wait in queues: one for the connection and one for each session. The
 * client reads each queue with its own GET.
 */
export class AcpHttpConnection {
  readonly id: string;
  readonly owner: string;
  readonly agentId: string | undefined;
  readonly #options: AcpHttpConnectionOptions;
  readonly #acp: AcpConnection;
  readonly #ended = new AbortController();
  readonly #streams = new Map<string, Stream>();
  /** The stream on which each request of the client is answered. */
  readonly #answeredOn = new Map<Json, string>();
  #onInitialized: ((answer: JsonObject) => void) | undefined;
  #isFinishing = false;

  constructor(options: AcpHttpConnectionOptions) {
    const { id, principal: proven, agentId, engine, clock, ids, log } = options;
    const principal = () => engine.callers.renewed(proven);
    this.id = id;
    this.owner = proven.id;
    this.agentId = agentId;
    this.#options = options;
    this.#acp = new AcpConnection({
      hub: engineHub({ engine, ids, log, principal, signal: this.#ended.signal }),
      send: (message) => this.#send(message),
      clock,
      ids,
      log,
      version: VERSION,
      transport: 'http',
      agent: agentId,
    });
  }

  /** Whether the client is reading any stream. */
  get isRead(): boolean {
    return [...this.#streams.values()].some(({ readers }) => readers > 0);
  }

  /** Handles the first message and resolves with its answer, which is sent as the HTTP response. */
  initialize(message: JsonObject): Promise<JsonObject> {
    return new Promise((resolve) => {
      this.#onInitialized = resolve;
      void this.receive(message, CONNECTION);
    });
  }

  /** Whether a request with this id is being answered. */
  isAnswering(id: Json): boolean {
    return this.#answeredOn.has(id);
  }

  /** Whether the session has a stream or may get one. Drops the stream of a closed or unused session to make room. */
  hasRoomFor(sessionId: string): boolean {
    if (this.#streams.has(sessionId) || this.#streams.size < MOST_STREAMS) return true;
    const [name, stream] = [...this.#streams].find(([other, { isNeeded }]) => other !== CONNECTION && !isNeeded) ?? [];
    if (name === undefined) return false;
    stream?.end();
    return this.#streams.delete(name);
  }

  /** Handles one message. Resolves when the message has been answered. */
  async receive(message: JsonObject, stream: string): Promise<void> {
    const { id, method } = message;
    const isRequest = id !== undefined && method !== undefined;
    if (isRequest) this.#answeredOn.set(id, method === 'session/load' ? CONNECTION : stream);
    try {
      await this.#acp.receive(message);
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#options.log.error({ error: String(error) }, 'an ACP message failed');
    } finally {
      if (isRequest) this.#answeredOn.delete(id);
      const known = isRequest ? this.#streams.get(stream) : undefined;
      if (known !== undefined) known.isClosed = method === 'session/close' || method === 'session/delete';
      if (this.#isFinishing) this.finish();
    }
  }

  /** The waiting and all later messages of a stream. A new reader replaces the previous one. */
  async *read(name: string, after: number | undefined) {
    const stream = this.#stream(name);
    stream.readers += 1;
    try {
      yield* stream.queue.read(after);
    } finally {
      stream.readers -= 1;
    }
  }

  queueOf(name: string): MessageQueue {
    return this.#stream(name).queue;
  }

  /** Ends the streams as soon as every request has been answered. Waiting messages can still be read. */
  finish(): void {
    this.#isFinishing = true;
    if (this.#answeredOn.size === 0) for (const stream of this.#streams.values()) stream.end();
  }

  /** Ends the connection. Its running prompts continue, and `session/load` finds them. */
  end(): void {
    this.#ended.abort();
    void this.#acp.close();
    for (const stream of this.#streams.values()) stream.end();
    this.#options.account?.close();
  }

  async #send(message: JsonObject): Promise<void> {
    const { method, id = null, params } = message;
    if (this.#onInitialized !== undefined) {
      this.#onInitialized(message);
      this.#onInitialized = undefined;
      return;
    }
    const session = isObject(params) && typeof params['sessionId'] === 'string' ? params['sessionId'] : CONNECTION;
    const stream = this.#stream(method === undefined ? (this.#answeredOn.get(id) ?? CONNECTION) : session);
    await stream.send(JSON.stringify(message));
  }

  #stream(name: string): Stream {
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const made = new Stream(this.#options.account);
    this.#streams.set(name, made);
    return made;
  }
}

class Stream {
  readonly queue: MessageQueue;
  readers = 0;
  /** Whether the client has closed or deleted the session. */
  isClosed = false;
  #isEnded = false;
  #room: Promise<void> | undefined;
  #onRoom = () => {};

  constructor(account: AcpHttpConnectionOptions['account']) {
    this.queue = new MessageQueue(account, { keptCharacters: MAX_UNSENT });
  }

  get isNeeded(): boolean {
    return !this.isClosed && (this.readers > 0 || this.queue.unsent > 0);
  }

  /** Resolves when there is room for the next message. */
  async send(text: string): Promise<void> {
    this.queue.push(text);
    while (this.queue.unsent > MAX_UNSENT && !this.#isEnded) {
      this.#room ??= new Promise((resolve) => {
        this.#onRoom = () => {
          this.#room = undefined;
          resolve();
        };
        this.queue.whenRead(this.#onRoom);
      });
      await this.#room;
    }
  }

  end(): void {
    this.#isEnded = true;
    this.queue.end();
    this.#onRoom();
  }
}

/** The name of the stream that belongs to no session. */
export const CONNECTION = '';
/** Characters that may wait on one stream before the agent's answer is paused. */
const MAX_UNSENT = 64 * 1024;
/** Over HTTP/1.1 each stream occupies a socket. */
export const MOST_STREAMS = 33;

import { isObject, type Json, type JsonObject, oneLineJson, parseJson } from '@dragoman/protocols';
import {
  decodeWire,
  type FieldsOf,
  type MessageOf,
  newMessage,
  PendingCalls,
  type ToolDefinition,
  type ToolResult,
  type WireMessage,
  type WireType,
  withFields,
} from '@dragoman/protocols/a2e-wire';
import { DragomanError } from '../dragoman-error.ts';
import { Backoff, DEFAULT_RETRY, type RetryOptions } from '../retry.ts';
import { errorOfMessage, lostError, timeoutError } from './wire-errors.ts';
import type { WireLink, WireTransport } from './wire-transport.ts';

export interface WireClientOptions {
  readonly transport: WireTransport;
  /** The API key; none where the host takes whoever started it. */
  readonly key?: string;
  /** What this agent calls itself; a label, not a proof. */
  readonly agentId?: string;
  /** The capabilities it wants; all there are unless told. */
  readonly capabilities?: readonly string[];
  readonly retry?: RetryOptions;
  /** Told of what answers no request, such as `mcp/server/push`. */
  readonly onPush?: (message: WireMessage) => void;
}

export interface RequestOptions {
  /** Told how the request is going, in order. */
  readonly onEvent?: ((event: WireMessage) => void) | undefined;
  /** Gives the request up; a tool call is cancelled at the host too. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the answer; 300,000 unless told. */
  readonly timeoutMs?: number | undefined;
}

/** Opens the first connection and shakes hands; rejects with a `DragomanError` when the host does not want us. */
export async function connectWire(options: WireClientOptions): Promise<WireClient> {
  const client = new WireClient(options);
  await client.connect();
  return client;
}

/**
 * An agent's side of the A2E wire. A connection that breaks ends what was under way, because nobody knows how far it got; the
 * next request opens a new one.
 *
 *   closed ──a request──▶ connecting ──handshake──▶ ready ──it breaks──▶ closed
 */
export class WireClient implements AsyncDisposable {
  readonly #options: WireClientOptions;
  readonly #retry: Required<RetryOptions>;
  readonly #pending = new PendingCalls();
  readonly #waiting = new Map<string, Waiting>();
  #connection: Promise<Connected> | undefined;
  /** The link that requests go over now. */
  #link: WireLink | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: WireClientOptions) {
    this.#options = options;
    this.#retry = { ...DEFAULT_RETRY, ...options.retry };
  }

  /** What the handshake granted. */
  async connect(): Promise<MessageOf<'handshake/resp'>> {
    return (await this.#connected()).granted;
  }

  /** Calls a tool. What it answers, also that it did not succeed, is the result; an error is thrown. */
  async call(tool: string, args: JsonObject = {}, options: RequestOptions = {}): Promise<ToolResult> {
    const { timeoutMs = DEFAULT_CALL_MS } = options;
    const fields = {
      tool_name: tool,
      arguments: args,
      streaming: options.onEvent !== undefined,
      timeout: timeoutMs / 1000,
    };
    const answer = await this.request('tool/call/req', fields, { ...options, timeoutMs: timeoutMs + GRACE_MS });
    return answer['data'] as unknown as ToolResult;
  }

  /** The tools this caller may use. */
  async tools(filter: FieldsOf<'tool/list/req'> = {}): Promise<readonly ToolDefinition[]> {
    const answer = await this.request('tool/list/req', filter);
    return answer['tools'] as unknown as ToolDefinition[];
  }

  /** Whether the host is there; resolves with how long it has been up, in seconds. */
  async ping(): Promise<number> {
    const answer = await this.request('ping', {}, { timeoutMs: 5_000 });
    return Number(answer['uptime_seconds']);
  }

  /** Any request of the protocol, and its answer. */
  async request<const Type extends WireType>(
    type: Type,
    fields: FieldsOf<Type>,
    options: RequestOptions = {},
  ): Promise<WireMessage> {
    const { link } = await this.#connected();
    return this.#ask(link, type, fields as unknown as JsonObject, options);
  }

  /** Says goodbye and lets go of the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const connected = await this.#connection?.catch(() => undefined);
    if (connected === undefined) return;
    connected.link.send(textOf(newMessage('shutdown', { timeout: 0 }, stamp())));
    connected.link.close();
    this.#lost(connected.link, lostError());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #connected(): Promise<Connected> {
    if (this.#isClosed) return Promise.reject(lostError());
    this.#connection ??= this.#dial();
    return this.#connection;
  }

  /** Tries until the host answers; a host that says no is not asked again. */
  async #dial(): Promise<Connected> {
    const backoff = new Backoff(this.#retry);
    try {
      for (;;) {
        try {
          return await this.#shakeHands();
        } catch (error) {
          if (!(error instanceof DragomanError) || this.#isClosed) throw error;
          await backoff.wait(backoff.next(error));
        }
      }
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  async #shakeHands(): Promise<Connected> {
    const { transport, key = '', agentId = '', capabilities = [] } = this.#options;
    const link = await transport.open({
      onMessage: (text) => this.#receive(text, link),
      onClosed: (error) => this.#lost(link, error),
    });
    const fields = { agent_id: agentId, agent_caps: [...capabilities], auth_token: key };
    const granted = await this.#ask(link, 'handshake/req', fields, { timeoutMs: HANDSHAKE_MS });
    if (granted['ok'] === true) {
      this.#link = link;
      return { link, granted: granted as unknown as MessageOf<'handshake/resp'> };
    }
    link.close();
    const code = granted['reason'] === 'auth_failed' ? 'unauthenticated' : String(granted['reason']);
    throw new DragomanError({ code, message: `The host turned the handshake down: ${String(granted['reason'])}.` });
  }

  #ask(link: WireLink, type: WireType, fields: JsonObject, options: RequestOptions): Promise<WireMessage> {
    const { signal, onEvent, timeoutMs = DEFAULT_REQUEST_MS } = options;
    const message = withFields(type, fields, stamp());
    const id = message.id ?? '';
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const giveUp = (reason: unknown) => {
        if (!this.#settle(id)) return;
        if (type === 'tool/call/req') link.send(textOf(withFields('tool/cancel/req', { target_id: id }, stamp())));
        reject(reason);
      };
      const onAbort = () => giveUp(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      const done = () => signal?.removeEventListener('abort', onAbort);
      const late = () => giveUp(timeoutError(type, timeoutMs));
      this.#waiting.set(id, { link, resolve, reject, onEvent, done, late });
      this.#pending.expect(id, new Date(Date.now() + timeoutMs));
      this.#watch(timeoutMs);
      try {
        link.send(textOf(message));
      } catch (error) {
        if (this.#settle(id)) reject(error);
      }
    });
  }

  /** One timer for all that wait: each of its own would cost as much as the rest of a call. */
  #watch(timeoutMs: number): void {
    if (this.#timer !== undefined && timeoutMs >= TICK_MS) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        for (const id of this.#pending.expire(new Date())) this.#waiting.get(id)?.late();
        if (this.#waiting.size > 0) this.#watch(TICK_MS);
      },
      Math.min(timeoutMs, TICK_MS),
    );
  }

  #receive(text: string, link: WireLink): void {
    const json = parseJson(text);
    // What is no message has no id to tell anybody of.
    if (!json.ok || !isObject(json.value)) return;
    const decoded = decodeWire(json.value, new Date(), { lenient: true });
    if (!decoded.ok) {
      this.#unreadable(json.value);
      return;
    }
    const message = decoded.value;
    if (message.type === 'ping') {
      link.send(textOf(newMessage('pong', { req_id: message.id ?? '' }, stamp())));
      return;
    }
    const route = this.#pending.route(message);
    if (route.to === 'events') this.#waiting.get(route.reqId)?.onEvent?.(message);
    else if (route.to === 'call') this.#answer(route.reqId, message);
    else if (route.to === 'push') this.#options.onPush?.(message);
  }

  #answer(reqId: string, message: WireMessage): void {
    const waiting = this.#settle(reqId);
    if (message.type === 'error') waiting?.reject(errorOfMessage(message, reqId));
    else waiting?.resolve(message);
  }

  /** An answer that is not as it should be still ends its request. */
  #unreadable(json: JsonObject): void {
    const reqId: Json | undefined = json['req_id'];
    if (typeof reqId !== 'string') return;
    const message = `The host sent a ${String(json['type'])} that is not as the protocol has it.`;
    this.#settle(reqId)?.reject(new DragomanError({ code: 'unexpected_answer', message }));
  }

  /** What was asked over this link is over; another may be open already. */
  #lost(link: WireLink, error: DragomanError): void {
    if (this.#link === link) {
      this.#link = undefined;
      this.#connection = undefined;
    }
    for (const [id, waiting] of this.#waiting) if (waiting.link === link) this.#settle(id)?.reject(error);
  }

  /** An idle client keeps no process alive. */
  #rest(): void {
    if (!this.#isClosed && this.#link !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #settle(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#pending.forget(id);
    waiting?.done();
    if (this.#waiting.size === 0) this.#rest();
    return waiting;
  }
}

interface Connected {
  readonly link: WireLink;
  readonly granted: MessageOf<'handshake/resp'>;
}

interface Waiting {
  readonly link: WireLink;
  resolve(message: WireMessage): void;
  reject(error: unknown): void;
  readonly onEvent: ((event: WireMessage) => void) | undefined;
  /** Stops listening to its caller. */
  done(): void;
  /** Its time is up. */
  late(): void;
}

function textOf(message: WireMessage): string {
  return oneLineJson(message as JsonObject);
}

/** Unique in this process and, by its beginning, among all: cheaper than random throughout. */
function stamp(): { id: string; now: Date } {
  count += 1;
  return { id: PREFIX + count.toString(16).padStart(12, '0'), now: new Date() };
}

let count = 0;
const PREFIX = Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) =>
  byte.toString(16).padStart(2, '0'),
).join('');
/** How exactly the end of a long wait is kept. */
const TICK_MS = 1_000;
const HANDSHAKE_MS = 30_000;
const DEFAULT_CALL_MS = 30_000;
const DEFAULT_REQUEST_MS = 300_000;
/** The host ends the call in time; this is for the way back. */
const GRACE_MS = 5_000;

import { isObject, type Json, type JsonObject, type Stamp } from '@dragoman/protocols';
import {
  decodeWire,
  type FieldsOf,
  lookup,
  type MessageOf,
  messageText,
  PendingCalls,
  type ToolDefinition,
  type ToolResult,
  type WireMessage,
  type WireType,
} from '@dragoman/protocols/a2e-wire';
import { DragomanError } from '../dragoman-error.ts';
import { invalidArgument, objectGiven, optionsGiven, shown, textGiven, unsayable } from '../invalid-argument.ts';
import { DEFAULT_RETRY, type RetryOptions, RetryPauses } from '../retry.ts';
import { openLink } from './open-link.ts';
import { now, stamp } from './stamp.ts';
import type { Waiting, WaitingRequest } from './waiting.ts';
import { brokenError, errorOfMessage, lostError, timeoutError, turnedDown } from './wire-errors.ts';
import type { WireLink, WireTransport } from './wire-transport.ts';

export interface WireClientOptions {
  readonly transport: WireTransport;
  /** The API key; none if the host trusts the process that started it. */
  readonly key?: string;
  /** A name for this agent. It is a label, not a proof. */
  readonly agentId?: string;
  /** The requested capabilities. Default: all that the host has. */
  readonly capabilities?: readonly string[];
  readonly retry?: RetryOptions;
  /** Called for messages that answer no request, such as `mcp/server/push`. */
  readonly onPush?: (message: WireMessage) => void;
}

export interface RequestOptions {
  /** Called for each event of the request, in order. */
  readonly onEvent?: ((event: WireMessage) => void) | undefined;
  /** Aborts the request; a tool, a chain or a skill is cancelled at the host too. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the answer. Default: 30,000 for a tool, 300,000 for any other request. `0` and `Infinity`: no
   * limit.
   */
  readonly timeoutMs?: number | undefined;
}

/** Connects and shakes hands. Rejects with a `DragomanError` if the host refuses. */
export async function connectWire(options: WireClientOptions): Promise<WireClient> {
  const client = new WireClient(options);
  await client.connect();
  return client;
}

/**
 * An agent's side of the A2E wire. A broken connection ends the running requests, because their progress is unknown;
 * the next request opens a new one.
 *
 *   closed ──a request──▶ connecting ──handshake──▶ ready ──it breaks──▶ closed
 */
export class WireClient implements AsyncDisposable {
  readonly #options: WireClientOptions;
  readonly #retry: Required<RetryOptions>;
  readonly #pending = new PendingCalls<Waiting>();
  #connection: Promise<Connected> | undefined;
  /** The open link, if there is one. */
  #link: WireLink | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = 0;
  #isClosed = false;
  readonly #closing = new AbortController();

  constructor(options: WireClientOptions) {
    objectGiven(options, 'options', '{ transport: webSocketWire({ url }), key }');
    if (typeof options.transport?.open !== 'function') throw noTransport(options.transport);
    this.#options = options;
    this.#retry = { ...DEFAULT_RETRY, ...options.retry };
  }

  /** Connects, if there is no connection, and returns the granted capabilities. */
  async connect(): Promise<MessageOf<'handshake/resp'>> {
    return (await this.#connected()).granted;
  }

  /** Calls a tool. Returns the result even if the tool failed; errors of the call are thrown. */
  call(tool: string, args: JsonObject = {}, options: RequestOptions = NO_OPTIONS): Promise<ToolResult> {
    try {
      textGiven(tool, 'tool');
      objectGiven(args, 'args', '{ a: 1 }');
      checkOptions(options);
    } catch (error) {
      return Promise.reject(error);
    }
    const { onEvent, signal } = options;
    const timeoutMs = waitOf(options, DEFAULT_CALL_MS);
    const fields = {
      session_id: '',
      tool_name: tool,
      arguments: args,
      correlation_id: '',
      streaming: onEvent !== undefined,
      // A2E wire, tool/call/req: 0 is the longest time that the host allows.
      timeout: timeoutMs === Number.POSITIVE_INFINITY ? 0 : timeoutMs / 1000,
    };
    return this.#request('tool/call/req', fields, { onEvent, signal, timeoutMs: timeoutMs + GRACE_MS }, resultOf);
  }

  /** The tools this caller may use. */
  tools(filter: FieldsOf<'tool/list/req'> = {}): Promise<readonly ToolDefinition[]> {
    return this.#checked('tool/list/req', filter as unknown as JsonObject, NO_OPTIONS, toolsOf);
  }

  /** Checks that the host answers. Returns its uptime in seconds. */
  async ping(): Promise<number> {
    const answer = await this.request('ping', {}, { timeoutMs: 5_000 });
    return Number(answer['uptime_seconds']);
  }

  /** Sends any request of the protocol and returns its answer. */
  request<const Type extends WireType>(
    type: Type,
    fields: FieldsOf<Type> = {} as FieldsOf<Type>,
    options: RequestOptions = NO_OPTIONS,
  ): Promise<WireMessage> {
    return this.#checked(type, fields as unknown as JsonObject, options, itself);
  }

  /** Closes the connection after a shutdown message. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort(lostError());
    const connected = await this.#connection?.catch(() => undefined);
    if (connected === undefined) return;
    connected.link.send(messageText({ type: 'shutdown', fields: { timeout: 0 } }, stamp()));
    const closed = connected.link.close();
    this.#lost(connected.link, lostError());
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Checks the caller's arguments before the request. */
  async #checked<Answer>(
    type: WireType,
    fields: JsonObject,
    options: RequestOptions,
    read: (message: WireMessage) => Answer,
  ): Promise<Answer> {
    textGiven(type, 'type');
    objectGiven(fields, 'fields', "{ server_id: 'files' }");
    checkOptions(options);
    return this.#request(type, fields, options, read);
  }

  /** Sends at once if there is a connection, and otherwise after connecting. */
  #request<Answer>(
    type: WireType,
    fields: JsonObject,
    options: RequestOptions,
    read: (message: WireMessage) => Answer,
  ): Promise<Answer> {
    const request = { type, fields, options, read };
    if (this.#link !== undefined && !this.#isClosed) return this.#ask(this.#link, request);
    return this.#whenConnected(request);
  }

  /** Connects before sending. The timeout of the call includes the time for connecting. */
  #whenConnected<Answer>(request: WaitingRequest<Answer>): Promise<Answer> {
    const { signal } = request.options;
    const timeoutMs = waitOf(request.options, DEFAULT_REQUEST_MS);
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      let isGivenUp = false;
      const giveUp = (reason: unknown) => {
        isGivenUp = true;
        over();
        reject(reason);
      };
      const onAbort = () => giveUp(signal?.reason);
      const timer = setTimeout(
        () => giveUp(timeoutError(request.type, timeoutMs)),
        Math.min(timeoutMs, LONGEST_TIMER_MS),
      );
      const over = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#connected().then(({ link }) => {
        if (isGivenUp) return;
        over();
        resolve(this.#ask(link, request));
      }, giveUp);
    });
  }

  #connected(): Promise<Connected> {
    if (this.#isClosed) return Promise.reject(lostError());
    this.#connection ??= this.#dial();
    return this.#connection;
  }

  /** Retries until the host answers; a refusal is final. */
  async #dial(): Promise<Connected> {
    const backoff = new RetryPauses(this.#retry);
    try {
      for (;;) {
        try {
          return await this.#shakeHands();
        } catch (error) {
          if (!(error instanceof DragomanError) || this.#isClosed) throw error;
          await backoff.wait(backoff.next(error), this.#closing.signal);
        }
      }
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  async #shakeHands(): Promise<Connected> {
    const { transport, key = '', agentId = '', capabilities = [] } = this.#options;
    let link: WireLink | undefined;
    let refusal: DragomanError | undefined;
    const refuse = (error: DragomanError) => {
      refusal ??= error;
      if (link !== undefined) this.#lost(link, refusal);
    };
    /** Must be called after each wait, in which the host may have refused or the connection may have ended. */
    const check = (opened: WireLink) => {
      if (refusal === undefined) return;
      void opened.close();
      throw refusal;
    };
    // Messages may arrive before `link` is set.
    const handlers = {
      onMessage: (text: string) => {
        const error = link === undefined || this.#link !== link ? refusalIn(text) : undefined;
        if (error !== undefined) refuse(error);
        else if (link !== undefined) this.#receive(text, link);
      },
      onClosed: refuse,
    };
    const closing = this.#closing.signal;
    const opened = await openLink({ transport, handlers, withinMs: HANDSHAKE_MS, closing });
    link = opened;
    check(link);
    const fields = { agent_id: agentId, agent_caps: [...capabilities], auth_token: key };
    const options = { timeoutMs: HANDSHAKE_MS, signal: closing };
    const request = { type: 'handshake/req', fields, options, read: itself } as const;
    const granted = await this.#ask(opened, request).catch((error: unknown) => {
      // The next attempt opens another link.
      void opened.close();
      throw error;
    });
    check(link);
    if (granted['ok'] === true) {
      this.#link = link;
      return { link, granted: granted as unknown as MessageOf<'handshake/resp'> };
    }
    void link.close();
    throw turnedDown(String(granted['reason']), { hasKey: key !== '', capabilities });
  }

  #ask<Answer>(link: WireLink, { type, fields, options, read }: WaitingRequest<Answer>): Promise<Answer> {
    const { signal, onEvent } = options;
    const timeoutMs = waitOf(options, DEFAULT_REQUEST_MS);
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const stamped = stamp();
      const { id } = stamped;
      const text = lineOf(type, fields, stamped);
      const onAbort = signal && (() => this.#giveUp(id, signal.reason));
      if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true });
      const answer = (message: WireMessage) => {
        try {
          resolve(read(message));
        } catch (error) {
          reject(error);
        }
      };
      const dueAt = stamped.now.getTime() + timeoutMs;
      const waiting = { link, type, timeoutMs, dueAt, answer, reject, onEvent, signal, onAbort };
      this.#pending.expect(id, undefined, waiting);
      this.#watch(timeoutMs);
      try {
        link.send(text);
      } catch (error) {
        this.#settle(id)?.reject(error);
      }
    });
  }

  /** Ends a request because its caller has aborted it. */
  #giveUp(id: string, reason: unknown): void {
    const waiting = this.#settle(id);
    if (waiting === undefined) return;
    const { link, type, reject } = waiting;
    // A chain and a skill are cancelled by the same message as a tool.
    if (CANCELLED.has(type)) {
      link.send(messageText({ type: 'tool/cancel/req', fields: { target_id: id } }, stamp()));
    }
    reject(reason);
  }

  /** One timer for all waiting calls. */
  #watch(leftMs: number): void {
    if (this.#timer !== undefined && leftMs >= TICK_MS) return;
    const wait = Math.min(leftMs, TICK_MS);
    const at = Date.now() + wait;
    // A new call must not postpone the timer.
    if (this.#timer !== undefined && this.#timerAt <= at) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const present = Date.now();
      for (const [id, waiting] of this.#pending.entries()) {
        if (waiting !== undefined && waiting.dueAt <= present)
          this.#giveUp(id, timeoutError(waiting.type, waiting.timeoutMs));
      }
      if (this.#pending.size > 0) this.#watch(this.#shortestLeft());
    }, wait);
  }

  /** The time left for the most urgent call with a timeout below `TICK_MS`. */
  #shortestLeft(): number {
    const present = Date.now();
    const shorter = (least: number, [, waiting]: [string, Waiting | undefined]) =>
      waiting === undefined || waiting.timeoutMs >= TICK_MS ? least : Math.min(least, waiting.dueAt - present);
    return Math.max(0, this.#pending.entries().reduce(shorter, TICK_MS));
  }

  #receive(text: string, link: WireLink): void {
    const json = objectIn(text);
    // An invalid message has no id of a request that could be rejected.
    if (json === undefined) return;
    const decoded = decodeWire(json, now(), LENIENT);
    if (!decoded.ok) {
      this.#unreadable(json);
      return;
    }
    const message = decoded.value;
    if (message.type === 'ping') {
      link.send(messageText({ type: 'pong', fields: {}, reqId: message.id ?? '' }, stamp()));
      return;
    }
    const route = this.#pending.route(message);
    if (route.to === 'events') this.#emit(route.reqId, message, route.waiter);
    else if (route.to === 'call') this.#answer(route.reqId, message, route.waiter);
    else if (route.to === 'push') this.#pushed(message);
  }

  /**
   * Passes on a message that answers no request. An error thrown by the listener fails no call, and the connection
   * continues.
   */
  #pushed(message: WireMessage): void {
    try {
      this.#options.onPush?.(message);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /** Passes on an event. An error thrown by the listener affects only its own call. */
  #emit(reqId: string, event: WireMessage, waiting: Waiting | undefined): void {
    try {
      waiting?.onEvent?.(event);
    } catch (error) {
      this.#giveUp(reqId, error);
    }
  }

  #answer(reqId: string, message: WireMessage, waiting: Waiting | undefined): void {
    this.#over(waiting);
    if (message.type === 'error') waiting?.reject(errorOfMessage(message, reqId));
    else waiting?.answer(message);
  }

  /** Handles an invalid message: an answer still ends its request, an event is only reported. */
  #unreadable(json: JsonObject): void {
    const reqId: Json | undefined = json['req_id'];
    if (typeof reqId !== 'string' || lookup(String(json['type']))?.role === 'event') return;
    const message = `The host sent an invalid ${String(json['type'])}.`;
    this.#settle(reqId)?.reject(new DragomanError({ code: 'unexpected_answer', message }));
  }

  /** Ends the requests of this link; another link may be open already. */
  #lost(link: WireLink, error: DragomanError): void {
    const isAfterHandshake = this.#link === link;
    if (isAfterHandshake) {
      this.#link = undefined;
      this.#connection = undefined;
    }
    const isBroken = isAfterHandshake && error.code === 'unreachable';
    for (const [id, waiting] of this.#pending.entries()) {
      if (waiting?.link !== link) continue;
      this.#settle(id)?.reject(isBroken ? brokenError(waiting.type, error, id) : error);
    }
  }

  /** Stops the timer, so that an idle client keeps no process alive. */
  #rest(): void {
    if (!this.#isClosed && this.#link !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #settle(id: string): Waiting | undefined {
    const waiting = this.#pending.forget(id);
    this.#over(waiting);
    return waiting;
  }

  #over(waiting: Waiting | undefined): void {
    if (waiting?.onAbort !== undefined) waiting.signal?.removeEventListener('abort', waiting.onAbort);
    if (this.#pending.size === 0) this.#rest();
  }
}

interface Connected {
  readonly link: WireLink;
  readonly granted: MessageOf<'handshake/resp'>;
}

function lineOf(type: WireType, fields: JsonObject, stamped: Stamp): string {
  try {
    return messageText({ type, fields }, stamped);
  } catch (error) {
    throw unsayable(`the fields of ${type}`, error);
  }
}

function checkOptions(options: RequestOptions): void {
  if (options === NO_OPTIONS) return;
  const { timeoutMs } = optionsGiven(options, OPTIONS);
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return;
  throw invalidArgument(`timeoutMs must be a number of milliseconds, 0 or more; got ${shown(timeoutMs)}`);
}

function noTransport(given: unknown): DragomanError {
  return invalidArgument(
    `transport must be a transport, such as webSocketWire({ url }); got ${shown(given)}`,
    'connectWire({ transport: webSocketWire({ url }), key })',
  );
}

/** As on the wire, 0 means no limit. */
function waitOf({ timeoutMs }: RequestOptions, otherwise: number): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : (timeoutMs ?? otherwise);
}

/** Duplicate keys are not checked here, because the host has no reason to send any. */
function objectIn(text: string): JsonObject | undefined {
  try {
    const json = JSON.parse(text) as Json;
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** An error that belongs to no request. Before the handshake is done, it is the reason why the handshake fails. */
function refusalIn(text: string): DragomanError | undefined {
  const json = objectIn(text);
  const isRefusal = json !== undefined && json['type'] === 'error' && (json['req_id'] ?? '') === '';
  return isRefusal ? errorOfMessage(json as unknown as WireMessage, '') : undefined;
}

function itself(message: WireMessage): WireMessage {
  return message;
}

function resultOf(message: WireMessage): ToolResult {
  return fieldOf(message, 'tool/call/resp', 'data') as unknown as ToolResult;
}

function toolsOf(message: WireMessage): readonly ToolDefinition[] {
  return fieldOf(message, 'tool/list/resp', 'tools') as unknown as ToolDefinition[];
}

function fieldOf(message: WireMessage, type: WireType, field: string): Json | undefined {
  if (message.type === type) return message[field];
  const text = `Expected ${type} from the host; received ${message.type.slice(0, 128)}.`;
  throw new DragomanError({ code: 'unexpected_answer', message: text });
}

/** Requests that are cancelled at the host, because they may run for long. */
const CANCELLED: ReadonlySet<WireType> = new Set(['tool/call/req', 'chain/req', 'skill/call/req']);
const LENIENT = { lenient: true };
const NO_OPTIONS: RequestOptions = {};
const OPTIONS = ['onEvent', 'signal', 'timeoutMs'] as const;
/** How exactly long timeouts are kept. */
const TICK_MS = 1_000;
const HANDSHAKE_MS = 30_000;
/** The longest delay of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const DEFAULT_CALL_MS = 30_000;
const DEFAULT_REQUEST_MS = 300_000;
/** The host ends the call in time, so the client waits a little longer for its answer. */
const GRACE_MS = 5_000;

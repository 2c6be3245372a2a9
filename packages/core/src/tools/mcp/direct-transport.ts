import { InFlight, isObject, type JsonObject } from '@dragoman/protocols';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Ending } from '../../ending.ts';

/** What a server answers with instead of a result (JSON-RPC 2.0 §5.1). */
export class JsonRpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface DirectRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly ending: Ending;
  /** Without it the server is not asked how far it is. */
  readonly onProgress: ((progress: JsonObject) => void) | undefined;
}

/** A transport that can say at once whether a message is on its way. */
export interface DirectInner extends Transport {
  sendNow?(message: JSONRPCMessage): void;
  /** Tells the server that the session is over, where there is one. */
  terminateSession?(): Promise<void>;
  /** What a program wrote to stderr last, in a line. */
  readonly lastWords?: string;
  /** Set by who takes it: told of a request that cannot be answered any more. */
  onover?: (id: string | number) => void;
  /** Set by who takes it: whether a message is one that was asked for. */
  awaits?: (message: JSONRPCMessage) => boolean;
  /** Whether what came is to be looked at, a message or what could not be read as one; all is unless told. */
  takes?: (came: JSONRPCMessage | Error) => boolean;
}

/**
 * A transport with a short cut for calls of tools. The SDK checks every message several times over, which costs more than all
 * the rest of a call; what comes through here is looked into once, by whoever asked. Everything else is the SDK's as ever.
 */
export class DirectTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: DirectInner;
  readonly #calls = new InFlight<DirectCall>();
  #count = 0;
  /** Requests of the SDK's that may still be answered. */
  readonly #owed = new Set<unknown>();
  #protocolVersion: string | undefined;

  constructor(inner: DirectInner) {
    this.#inner = inner;
    inner.onmessage = (message) => {
      if (inner.takes?.(message) !== false) this.#receive(message);
    };
    inner.onover = (id) => {
      const over: JSONRPCMessage = { jsonrpc: '2.0', id, error: { code: CLOSED, message: 'the answer broke off' } };
      if (this.#awaits(over)) this.#receive(over);
    };
    inner.onerror = (error) => {
      if (inner.takes?.(error) !== false) this.onerror?.(error);
    };
    inner.awaits = (message) => this.#awaits(message);
    inner.onclose = () => {
      this.#lose();
      this.onclose?.();
    };
  }

  /** Whether the server knows us by a session that it may forget. */
  get hasSession(): boolean {
    return this.#inner.sessionId !== undefined;
  }

  /** What the program wrote to stderr last; empty where there is none, or it wrote nothing. */
  get lastWords(): string {
    return this.#inner.lastWords ?? '';
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, ...options: unknown[]): Promise<void> {
    if ('method' in message && 'id' in message) this.#owed.add(message.id);
    // MCP, Cancellation: nobody waits for its answer any more.
    else if ('method' in message && message.method === 'notifications/cancelled') {
      this.#owed.delete(message.params?.['requestId']);
    }
    return this.#inner.send(message, ...(options as []));
  }

  async endSession(): Promise<void> {
    await this.#inner.terminateSession?.();
  }

  async close(): Promise<void> {
    await this.#inner.close();
    this.#lose();
  }

  /** The revision of the protocol that was agreed on; `undefined` until then. */
  get protocolVersion(): string | undefined {
    return this.#protocolVersion;
  }

  setProtocolVersion(version: string): void {
    this.#protocolVersion = version;
    this.#inner.setProtocolVersion?.(version);
  }

  /** The result; rejects with `JsonRpcError`, or with the ending's reason, which the server is told of too. */
  ask({ method, params, ending, onProgress }: DirectRequest): Promise<JsonObject> {
    this.#count += 1;
    const id = `d${this.#count}`;
    return new Promise((resolve, reject) => {
      const forget = ending.onEnd(() => {
        if (this.#calls.remove(id) === undefined) return;
        // MCP, Cancellation.
        const cancelled = { requestId: id, reason: 'cancelled' };
        this.#tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled }, () => {});
        reject(ending.reason);
      });
      if (ending.aborted) {
        reject(ending.reason);
        return;
      }
      this.#calls.add(id, { resolve, reject, forget, onProgress });
      // MCP, Progress: who wants to hear of it gives it a name.
      const asked = onProgress === undefined ? params : { _meta: { progressToken: id }, ...params };
      const request = { jsonrpc: '2.0', id, method, params: asked };
      this.#tell(request, (error) => this.#settle(id)?.reject(error));
    });
  }

  #tell(message: JsonObject, onFailed: (error: unknown) => void): void {
    const given = message as unknown as JSONRPCMessage;
    if (this.#inner.sendNow === undefined) {
      this.#inner.send(given).catch(onFailed);
      return;
    }
    try {
      this.#inner.sendNow(given);
    } catch (error) {
      onFailed(error);
    }
  }

  #awaits(message: JSONRPCMessage): boolean {
    const { id, method } = message as unknown as JsonObject;
    return method === undefined && ((typeof id === 'string' && this.#calls.has(id)) || this.#owed.has(idOf(id)));
  }

  #receive(message: JSONRPCMessage): void {
    const { id, method, result, error, params } = message as unknown as JsonObject;
    const answered = typeof id === 'string' && method === undefined ? this.#settle(id) : undefined;
    if (answered !== undefined) {
      if (isObject(result)) answered.resolve(result);
      else if (isObject(error)) answered.reject(errorIn(error));
      else answered.reject(new JsonRpcError(INVALID, 'it answered with neither a result nor an error'));
      return;
    }
    if (method === undefined) this.#owed.delete(idOf(id));
    const token = method === 'notifications/progress' && isObject(params) ? params['progressToken'] : undefined;
    const call = typeof token === 'string' ? this.#calls.get(token) : undefined;
    if (call !== undefined && isObject(params)) call.onProgress?.(params);
    else this.onmessage?.(message);
  }

  #settle(id: string): DirectCall | undefined {
    const call = this.#calls.remove(id);
    call?.forget();
    return call;
  }

  #lose(): void {
    for (const [id] of this.#calls.entries()) {
      this.#settle(id)?.reject(new JsonRpcError(CLOSED, 'the connection closed'));
    }
  }
}

/** What another program wrote may be of any kind: nothing is made a number or a text that is none. */
function errorIn({ code, message }: JsonObject): JsonRpcError {
  return new JsonRpcError(typeof code === 'number' ? code : INVALID, typeof message === 'string' ? message : '');
}

/** The SDK numbers its requests, and takes the number for an answer that has it as text. */
function idOf(id: unknown): unknown {
  return typeof id === 'string' && id !== '' ? Number(id) : id;
}

interface DirectCall {
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
  forget(): void;
  readonly onProgress: DirectRequest['onProgress'];
}

const INVALID = -32600;
/** As the SDK has it. */
const CLOSED = -32000;

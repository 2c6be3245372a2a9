import { InFlight, isObject, type JsonObject } from '@dragoman/protocols';
import type { Ending } from '../../ending/ending.ts';
import { ConnectionClosed, INVALID_REQUEST, JsonRpcError, METHOD_NOT_FOUND } from './mcp-error.ts';
import type { McpReceiver, McpTransport, RequestId } from './mcp-transport.ts';

export interface McpRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly ending: Ending;
  /** Absent: the server is not asked for progress. */
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /**
   * Passes a question of the server to a person; the signal withdraws the question. Absent: such questions are refused.
   */
  readonly onElicit?: ((params: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
}

export interface McpConnectionOptions {
  readonly transport: McpTransport;
  /** Called for notifications that belong to no request. */
  readonly onNotification: (method: string, params: JsonObject) => void;
  readonly onClose: () => void;
}

/**
 * JSON-RPC with one MCP server: our requests and their answers, and the server's requests, which are pings and
 * questions to a person.
 */
export class McpConnection implements McpReceiver {
  readonly #options: McpConnectionOptions;
  readonly #transport: McpTransport;
  readonly #requests = new InFlight<PendingRequest, RequestId>();
  /** The server's open questions, by the ids that it gave them. */
  readonly #questions = new Map<RequestId, AbortController>();
  #count = 0;
  #isClosed = false;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.#transport = options.transport;
  }

  /**
   * Sends a request and returns the result. Rejects with `JsonRpcError`, with the reason why no answer can arrive, or
   * with the reason of `ending`, in which case the server is asked to cancel.
   */
  request({ method, params, ending, onProgress, onElicit }: McpRequest): Promise<JsonObject> {
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new ConnectionClosed());
        return;
      }
      if (ending.aborted) {
        reject(ending.reason);
        return;
      }
      const forget = ending.onEnd(() => {
        if (this.#requests.remove(id) === undefined) return;
        this.#transport.abandon(id);
        // MCP, Cancellation: `initialize` must not be cancelled.
        if (method !== 'initialize') this.notify('notifications/cancelled', { requestId: id, reason: 'cancelled' });
        reject(ending.reason);
      });
      this.#requests.add(id, { resolve, reject, forget, onProgress, onElicit });
      // MCP, Progress: a token asks the server for progress.
      const withToken = onProgress === undefined ? params : { _meta: { progressToken: id }, ...params };
      this.#send({ jsonrpc: '2.0', id, method, params: withToken }, (error) => this.fail(id, error as Error));
    });
  }

  /** Sends a notification without waiting for its delivery. */
  notify(method: string, params: JsonObject = {}): void {
    this.#send({ jsonrpc: '2.0', method, params }, () => {});
  }

  awaits(id: unknown): boolean {
    return this.#requests.has(idOf(id));
  }

  take({ id, method, params, result, error }: JsonObject, of?: RequestId): void {
    if (method === undefined) this.#answered(idOf(id), result, error);
    else if (typeof method !== 'string') return;
    else if (typeof id === 'string' || typeof id === 'number')
      this.#answer(id, { method, params: isObject(params) ? params : {}, of });
    else this.#notified(method, isObject(params) ? params : {});
  }

  fail(id: RequestId, error: Error): void {
    this.#settle(idOf(id))?.reject(error);
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const [id] of this.#requests.entries()) this.fail(id, new ConnectionClosed());
    for (const question of this.#questions.values()) question.abort(new ConnectionClosed());
    this.#options.onClose();
  }

  #answered(id: RequestId, result: unknown, error: unknown): void {
    const request = this.#settle(id);
    if (isObject(result)) request?.resolve(result);
    else if (isObject(error)) request?.reject(errorIn(error));
    else request?.reject(new JsonRpcError(INVALID_REQUEST, 'it answered with neither a result nor an error'));
  }

  /**
   * MCP, Ping and Elicitation. No other capability is announced, so no server may ask for our caller's model or
   * folders.
   */
  #answer(id: RequestId, { method, params, of }: ServerRequest): void {
    if (method === 'elicitation/create') this.#elicit(id, params, of);
    else if (method === 'ping') this.#respond(id, { result: {} });
    else {
      const refusal = Object.hasOwn(REFUSALS, method)
        ? REFUSALS[method]
        : 'this client answers ping and elicitation only';
      this.#respond(id, { error: { code: METHOD_NOT_FOUND, message: `Method not found: ${refusal}.` } });
    }
  }

  /** Finds the call that a question belongs to: the one whose stream carried it, otherwise the only one. */
  #elicit(id: RequestId, params: JsonObject, of: RequestId | undefined): void {
    const calls =
      of === undefined ? [...this.#requests.entries()].map(([, call]) => call) : [this.#requests.get(idOf(of))];
    const asking = calls.flatMap((call) => call?.onElicit ?? []);
    const [onElicit, another] = asking;
    if (onElicit === undefined || another !== undefined) {
      const message = another === undefined ? NOBODY_TO_ASK : WHICH_CALL;
      this.#respond(id, { error: { code: INVALID_REQUEST, message } });
      return;
    }
    const withdrawn = new AbortController();
    this.#questions.set(id, withdrawn);
    onElicit(params, withdrawn.signal)
      .then(
        (result) => this.#respond(id, { result }),
        // A question that the server withdrew gets no response (MCP, Cancellation); one whose call has ended is
        // cancelled.
        () => {
          if (!withdrawn.signal.aborted) this.#respond(id, { result: { action: 'cancel' } });
        },
      )
      .finally(() => this.#questions.delete(id));
  }

  #respond(id: RequestId, answer: JsonObject): void {
    this.#send({ jsonrpc: '2.0', id, ...answer }, () => {});
  }

  #notified(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') this.#questions.get(params['requestId'] as RequestId)?.abort(WITHDRAWN);
    const request = method === 'notifications/progress' && this.#requests.get(idOf(params['progressToken']));
    if (request) request.onProgress?.(params);
    else this.#options.onNotification(method, params);
  }

  #send(message: JsonObject, onFailed: (error: unknown) => void): void {
    try {
      this.#transport.send(message)?.catch(onFailed);
    } catch (error) {
      onFailed(error);
    }
  }

  #settle(id: RequestId): PendingRequest | undefined {
    const request = this.#requests.remove(id);
    request?.forget();
    return request;
  }
}

interface ServerRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly of: RequestId | undefined;
}

interface PendingRequest {
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
  forget(): void;
  readonly onProgress: McpRequest['onProgress'];
  readonly onElicit: McpRequest['onElicit'];
}

/** The members of another program's error may have any type. */
function errorIn({ code, message }: JsonObject): JsonRpcError {
  return new JsonRpcError(
    typeof code === 'number' ? code : INVALID_REQUEST,
    typeof message === 'string' ? message : '',
  );
}

/** Our ids are numbers; some servers send them back as text. */
function idOf(id: unknown): RequestId {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : (id as RequestId);
}
/** Why requests that other clients support are refused here. */
const REFUSALS: Readonly<Record<string, string>> = {
  'sampling/createMessage': "this client has no sampling; it does not run its callers' models for a server",
  'roots/list': "this client has no roots; it does not show its callers' folders to a server",
};
const NOBODY_TO_ASK = 'No person can be asked: no running call came from a request whose caller can answer questions.';
const WHICH_CALL = 'Nobody was asked: several calls are running, and the question names none of them.';
const WITHDRAWN = new Error('the server withdrew its question');

import { decodeJsonRpc, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import type { LimitedLog } from '../../ports/limited-log.ts';
import { AcpLineLost, type AcpTransport } from './acp-transport.ts';

/** The error with which the program answered a request. */
export class AcpProgramError extends Error {
  readonly code: number;
  readonly data: Json;

  constructor(code: number, message: string, data: Json) {
    super(message);
    this.name = 'AcpProgramError';
    this.code = code;
    this.data = data;
  }
}

export interface AcpLineOptions {
  readonly transport: AcpTransport;
  readonly log: LimitedLog;
  /** Answers a request of the program; an exception becomes an error response. */
  readonly onRequest: (method: string, params: JsonObject) => Promise<JsonObject>;
  /** Handles a notification; the next message is read when it resolves. */
  readonly onNotification: (method: string, params: JsonObject) => Promise<void> | void;
  /** A message was dropped because it exceeds the limit. */
  readonly onOversized: () => Promise<void>;
}

/** JSON-RPC with an ACP agent. */
export class AcpLine {
  readonly #options: AcpLineOptions;
  readonly #waiting = new Map<number, { resolve(result: JsonObject): void; reject(error: Error): void }>();
  /** Requests of the program that are not answered yet. */
  #unanswered = 0;
  #nextId = 1;
  #lost: AcpLineLost | undefined;

  constructor(options: AcpLineOptions) {
    this.#options = options;
    void this.#read();
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  request(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const id = this.#nextId++;
    const answer = new Promise<JsonObject>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#write({ jsonrpc: '2.0', id, method, params });
    return answer;
  }

  notify(method: string, params: JsonObject): void {
    this.#write({ jsonrpc: '2.0', method, params });
  }

  /** Rejects everything that waits for the program, with this reason. */
  lose(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = new AcpLineLost(reason);
    for (const { reject } of this.#waiting.values()) reject(this.#lost);
    this.#waiting.clear();
  }

  #write(message: JsonObject): void {
    try {
      this.#options.transport.send(message);
    } catch (error) {
      this.lose(error instanceof Error ? error.message : String(error));
    }
  }

  async #read(): Promise<void> {
    const { transport, log, onOversized } = this.#options;
    for await (const json of transport.messages) {
      if (json.ok) {
        await this.#receive(json.value);
        continue;
      }
      const [issue] = json.issues;
      log.write('warn', { error: issue?.message }, 'the agent sent something that is not a message');
      if (issue !== undefined && OVERSIZED.has(issue.code)) await onOversized();
    }
    this.lose(await transport.lost);
  }

  async #receive(json: Json): Promise<void> {
    const decoded = decodeJsonRpc(json);
    if (!decoded.ok) {
      this.#options.log.write('warn', { error: decoded.issues[0]?.message }, 'the agent sent an invalid message');
      return;
    }
    const { kind, message } = decoded.value;
    if (kind === 'notification') await this.#options.onNotification(message.method, paramsOf(message));
    else if (kind === 'request') void this.#answer(message.id, message.method, paramsOf(message));
    else this.#settle(message as unknown as JsonObject);
  }

  async #answer(id: Json, method: string, params: JsonObject): Promise<void> {
    this.#unanswered += 1;
    try {
      if (this.#unanswered > MOST_UNANSWERED) throw new AcpProgramError(-32603, TOO_MANY, null);
      // An object, never null: programs fail to read a null result.
      this.#write({ jsonrpc: '2.0', id, result: await this.#options.onRequest(method, params) });
    } catch (error) {
      const { code, message } = error instanceof AcpProgramError ? error : { code: -32603, message: 'Internal error' };
      this.#write({ jsonrpc: '2.0', id, error: { code, message } });
    } finally {
      this.#unanswered -= 1;
    }
  }

  /** Ignores a second answer to the same request. */
  #settle({ id, result, error }: JsonObject): void {
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (waiting === undefined) this.#options.log.write('debug', { id }, 'the agent answered an unknown request');
    else if (!isObject(error)) waiting.resolve(isObject(result) ? result : {});
    else {
      const { code, message, data = null } = error;
      const words = typeof message === 'string' && message !== '' ? message : 'The agent failed.';
      waiting.reject(new AcpProgramError(typeof code === 'number' ? code : -32603, words, data));
    }
  }
}

function paramsOf({ params }: { readonly params?: unknown }): JsonObject {
  return isObject(params) ? params : {};
}

/** Issues of a line and of an event. */
const OVERSIZED: ReadonlySet<string> = new Set(['line_too_long', 'event_too_large']);
const MOST_UNANSWERED = 100;
const TOO_MANY = `At most ${MOST_UNANSWERED} requests may be open at once.`;

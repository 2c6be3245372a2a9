import { type E2AResponse, isObject, type JsonObject, respellAcp } from '@dragoman/protocols';

export interface ClientServicesOptions {
  readonly sessionId: string;
  readonly capabilities: JsonObject;
  /** Sends a request to the client and resolves with its response; `undefined` when the client has left. */
  readonly ask: (id: string, method: string, params: JsonObject) => Promise<JsonObject> | undefined;
  /** Notifies the client that its response is no longer needed. */
  readonly cancel: (id: string) => void;
  /** Sends the client's response to the agent. */
  readonly answer: (jsonrpcId: string, response: JsonObject) => Promise<unknown>;
}

/** The files and terminals of a client, for the agent that answers one of its prompts. */
export class ClientServices {
  readonly #options: ClientServicesOptions;
  readonly #open = new Map<string, string>();
  readonly #terminals = new Set<string>();

  constructor(options: ClientServicesOptions) {
    this.#options = options;
  }

  /** The client's capabilities, in the form of `channel_context`; empty if it offers neither files nor terminals. */
  static offeredBy({ fs, terminal }: JsonObject): JsonObject {
    const { readTextFile, writeTextFile } = isObject(fs) ? fs : ({} as JsonObject);
    if (readTextFile !== true && writeTextFile !== true && terminal !== true) return {};
    return {
      client_capabilities: {
        fs: { read_text_file: readTextFile === true, write_text_file: writeTextFile === true },
        terminal: terminal === true,
      },
    };
  }

  /** Forwards a request for files or terminals to the client, and its response to the agent. Ignores all other frames. */
  forward({ response_kind: kind, body }: E2AResponse): void {
    const { id, method, params } = body;
    if (kind !== 'acp.output_request' || typeof id !== 'string' || typeof method !== 'string') return;
    if (!/^(?:fs|terminal)\//.test(method)) return;
    void this.#forward(id, method, isObject(params) ? params : {});
  }

  /** Call when the prompt has ended: cancels open calls and releases the remaining terminals. */
  end(): void {
    const { sessionId, cancel, ask } = this.#options;
    for (const outgoing of this.#open.values()) cancel(outgoing);
    this.#open.clear();
    for (const terminalId of this.#terminals)
      void ask(`release-${terminalId}`, 'terminal/release', { sessionId, terminalId });
    this.#terminals.clear();
  }

  /** Call when the client has left: its open calls fail. Resolves when the agent has received the errors. */
  async leave(): Promise<void> {
    const open = [...this.#open.keys()];
    this.#open.clear();
    this.#terminals.clear();
    await Promise.all(open.map((id) => this.#answer(id, CLIENT_LEFT)));
  }

  async #forward(id: string, method: string, params: JsonObject): Promise<void> {
    const { ask, sessionId } = this.#options;
    const outgoing = `client-${id}`;
    this.#open.set(id, outgoing);
    const response = this.#offers(method)
      ? ask(outgoing, method, { ...respellAcp(params, 'camelCase'), sessionId })
      : undefined;
    const { result, error } = response === undefined ? NOT_OFFERED : await response;
    if (!this.#open.delete(id)) return;
    const { terminalId } = isObject(result) ? result : params;
    if (method === 'terminal/create' && typeof terminalId === 'string') this.#terminals.add(terminalId);
    if (method === 'terminal/release') this.#terminals.delete(String(params['terminal_id']));
    // An object, never null: programs fail to read a null result.
    await this.#answer(id, isObject(error) ? { error } : { result: isObject(result) ? result : {} });
  }

  #offers(method: string): boolean {
    const { fs, terminal } = this.#options.capabilities;
    if (method.startsWith('terminal/')) return terminal === true;
    const has = isObject(fs) ? fs : ({} as JsonObject);
    return method === 'fs/read_text_file' ? has['readTextFile'] === true : has['writeTextFile'] === true;
  }

  /** Sends a response. A response that cannot be sent, for example because it is too long, becomes an error. */
  async #answer(id: string, response: JsonObject): Promise<void> {
    const { answer } = this.#options;
    try {
      await answer(id, response);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await answer(id, { error: { code: -32603, message } }).catch(() => {});
    }
  }
}

const NOT_OFFERED: JsonObject = { error: { code: -32601, message: 'The client does not offer this.' } };
const CLIENT_LEFT: JsonObject = { error: { code: -32603, message: 'The client has left.' } };

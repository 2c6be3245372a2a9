import type { JsonObject } from '@dragoman/protocols';
import { Ending } from '../../ending/ending.ts';
import type { Clock } from '../../ports/ports.ts';
import { McpConnection, type McpRequest } from './mcp-connection.ts';
import { NoAnswerInTime, OtherRevision } from './mcp-error.ts';
import {
  type InitializeResult,
  readCompletion,
  readFilledPrompt,
  readInitializeResult,
  readPromptsPage,
  readResourceContents,
  readResourcesPage,
  readTemplatesPage,
  readToolsPage,
} from './mcp-shapes.ts';
import type { McpTransport } from './mcp-transport.ts';

export interface McpClientOptions {
  readonly transport: McpTransport;
  readonly clock: Clock;
  /** Our version, which the server receives. */
  readonly version: string;
  readonly onNotification: (method: string, params: JsonObject) => void;
  readonly onClose: () => void;
}

export interface McpRequestOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

interface Paged {
  readonly cursor?: string;
}

/** The parts of an MCP client (2024-10-07 to 2025-11-25) that are needed here. */
export class McpClient {
  readonly #options: McpClientOptions;
  readonly #transport: McpTransport;
  readonly #connection: McpConnection;
  #server: InitializeResult | undefined;

  constructor(options: McpClientOptions) {
    this.#options = options;
    this.#transport = options.transport;
    this.#connection = new McpConnection(options);
  }

  /** MCP, Lifecycle. Throws `OtherRevision` if there is no common revision. */
  async connect(options: McpRequestOptions): Promise<void> {
    await this.#transport.start(this.#connection);
    const clientInfo = { name: 'dragoman', version: this.#options.version };
    const params = { protocolVersion: NEWEST, capabilities: CAPABILITIES, clientInfo };
    const server = readInitializeResult(await this.#ask('initialize', params, options));
    if (!REVISIONS.includes(server.protocolVersion)) throw new OtherRevision(server.protocolVersion);
    this.#server = server;
    this.#transport.useRevision(server.protocolVersion);
    this.#connection.notify('notifications/initialized');
  }

  /** `undefined` until the server has answered. */
  get serverInfo(): InitializeResult['serverInfo'] | undefined {
    return this.#server?.serverInfo;
  }

  /** The revision that was agreed on. */
  get revision(): string | undefined {
    return this.#server?.protocolVersion;
  }

  get hasSession(): boolean {
    return this.#transport.hasSession;
  }

  get lastWords(): string {
    return this.#transport.lastWords;
  }

  has(capability: 'tools' | 'resources' | 'prompts' | 'logging' | 'completions'): boolean {
    return Object(this.#server?.capabilities)[capability] !== undefined;
  }

  /** The result as received; the caller checks its shape. */
  callTool(request: Omit<McpRequest, 'method'>): Promise<JsonObject> {
    return this.#connection.request({ ...request, method: 'tools/call' });
  }

  async listTools(params: Paged = {}, options?: McpRequestOptions) {
    return readToolsPage(await this.#ask('tools/list', { ...params }, options));
  }

  async listResources(params: Paged = {}, options?: McpRequestOptions) {
    return readResourcesPage(await this.#ask('resources/list', { ...params }, options));
  }

  async listTemplates(params: Paged = {}, options?: McpRequestOptions) {
    return readTemplatesPage(await this.#ask('resources/templates/list', { ...params }, options));
  }

  async readResource(uri: string, options?: McpRequestOptions) {
    return readResourceContents(await this.#ask('resources/read', { uri }, options));
  }

  async subscribe(uri: string, options?: McpRequestOptions): Promise<void> {
    await this.#ask('resources/subscribe', { uri }, options);
  }

  async unsubscribe(uri: string, options?: McpRequestOptions): Promise<void> {
    await this.#ask('resources/unsubscribe', { uri }, options);
  }

  async listPrompts(params: Paged = {}, options?: McpRequestOptions) {
    return readPromptsPage(await this.#ask('prompts/list', { ...params }, options));
  }

  async getPrompt(params: { readonly name: string; readonly arguments: JsonObject }, options?: McpRequestOptions) {
    return readFilledPrompt(await this.#ask('prompts/get', { ...params }, options));
  }

  async complete(params: JsonObject, options?: McpRequestOptions) {
    return readCompletion(await this.#ask('completion/complete', params, options));
  }

  async setLoggingLevel(level: string): Promise<void> {
    await this.#ask('logging/setLevel', { level });
  }

  endSession(): Promise<void> {
    return this.#transport.endSession();
  }

  async close(): Promise<void> {
    await this.#transport.close();
    this.#connection.closed();
  }

  async #ask(method: string, params: JsonObject, { signal, timeout = TIMEOUT_MS }: McpRequestOptions = {}) {
    const ending = new Ending();
    const stop = () => ending.end(signal?.reason);
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
    const cancel = this.#options.clock.after(timeout, () =>
      ending.end(new NoAnswerInTime('it did not answer in time')),
    );
    try {
      return await this.#connection.request({ method, params, ending });
    } finally {
      cancel();
      signal?.removeEventListener('abort', stop);
    }
  }
}

const NEWEST = '2025-11-25';
const CAPABILITIES = { elicitation: { form: {}, url: {} } };
export const REVISIONS: readonly string[] = [NEWEST, '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
const TIMEOUT_MS = 60_000;

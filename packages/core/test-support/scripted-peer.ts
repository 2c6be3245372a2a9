import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Json, JsonObject } from '@dragoman/protocols';
import { listening } from './ports.ts';

/** One scripted answer of a foreign A2A agent. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Results of JSON-RPC, one an SSE event. */
  readonly events?: readonly Json[];
  /** The result of JSON-RPC as one answer. */
  readonly result?: Json;
  readonly error?: Json;
  /** A body as it is, with its content type. */
  readonly body?: string;
  readonly type?: string;
  /** The same as it was recorded, piece by piece. */
  readonly chunks?: readonly string[];
  /** The connection is cut, or left open, after the events. */
  readonly after?: 'cut' | 'hang';
}

/** A request to a scripted agent. */
export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

/** A foreign A2A agent that gives scripted answers, by JSON-RPC method or HTTP path; the last one again and again. */
export class ScriptedPeer implements AsyncDisposable {
  readonly requests: PeerRequest[] = [];
  card: JsonObject | undefined;
  etag: string | undefined;
  url = '';
  readonly #script: Map<string, ScriptedAnswer[]>;
  readonly #server: Server;

  private constructor(script: Readonly<Record<string, readonly ScriptedAnswer[]>>) {
    this.#script = new Map(Object.entries(script).map(([name, answers]) => [name, [...answers]]));
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(script: Readonly<Record<string, readonly ScriptedAnswer[]>>): Promise<ScriptedPeer> {
    const peer = new ScriptedPeer(script);
    peer.url = `http://127.0.0.1:${await listening(peer.#server)}`;
    return peer;
  }

  /** The methods of the requests, in order, without the card. */
  get methods(): string[] {
    return this.requests.map(({ method }) => method);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = request.url ?? '';
    if (path.includes('/.well-known/')) return this.#showCard(request, response);
    const body = (text === '' ? {} : JSON.parse(text)) as JsonObject;
    const method = typeof body['method'] === 'string' ? body['method'] : `${request.method} ${path}`;
    this.requests.push({ method, path, headers: request.headers, body });
    const answers = this.#script.get(method) ?? [{ error: { code: -32601, message: 'Method not found' } }];
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
    await this.#play(answer, body['id'] ?? null, response);
  }

  async #play(answer: ScriptedAnswer, id: Json, response: ServerResponse): Promise<void> {
    const { status = 200, headers = {}, events, type, body, after } = answer;
    const chunks = answer.chunks?.map((chunk) => chunk.replaceAll('{url}', this.url));
    const wrapped = (result: Json) => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (events === undefined && chunks === undefined) {
      const { result, error } = answer;
      const json = JSON.stringify({
        jsonrpc: '2.0',
        id,
        ...(result !== undefined && { result }),
        ...(error !== undefined && { error }),
      });
      response.writeHead(status, { 'content-type': type ?? 'application/json', ...headers });
      if (after === 'hang') return void response.write(' ');
      response.end(body ?? json);
      return;
    }
    response.writeHead(status, { 'content-type': type ?? 'text/event-stream', ...headers });
    for (const chunk of chunks ?? events?.map((event) => `data: ${wrapped(event)}\n\n`) ?? []) {
      response.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (after === 'hang') return;
    if (after === 'cut') setTimeout(() => response.destroy(), 20);
    else response.end();
  }

  #showCard(request: IncomingMessage, response: ServerResponse): void {
    if (this.card === undefined || !request.url?.includes('agent-card.json')) return void response.writeHead(404).end();
    const { etag } = this;
    this.requests.push({ method: 'card', path: request.url, headers: request.headers, body: {} });
    if (etag !== undefined && request.headers['if-none-match'] === etag)
      return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { 'content-type': 'application/json', ...(etag !== undefined && { etag }) });
    response.end(JSON.stringify(this.card));
  }
}

/** A card of 1.0 with one JSON-RPC interface. */
export function cardAt(url: string, more: JsonObject = {}): JsonObject {
  return {
    name: 'Partner',
    description: 'A foreign agent.',
    version: '7',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'talk', name: 'Talk', description: 'Talks.', tags: [] }],
    ...more,
  };
}

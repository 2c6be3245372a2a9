import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request an API got. */
export interface Counted {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Behaviour = (request: Counted, response: ServerResponse) => void | Promise<void>;

/** An API on loopback that records every request. */
export class CountingApi implements AsyncDisposable {
  readonly requests: Counted[] = [];
  readonly #server: Server;
  /** What it does, by `METHOD /path`; a request without an entry gets a 404. */
  readonly behaviours = new Map<string, Behaviour>();

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = await request.toArray();
      const path = request.url ?? '';
      const counted: Counted = {
        method: request.method ?? '',
        path,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      this.requests.push(counted);
      const behaviour = this.behaviours.get(`${counted.method} ${path.split('?')[0]}`);
      if (behaviour === undefined) send(response, 404, { message: 'nothing here' });
      else await behaviour(counted, response);
    });
  }

  static async start(): Promise<CountingApi> {
    const api = new CountingApi();
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  /** Answers with this, every time. */
  answers(name: string, json: unknown, { status = 200, headers = {} }: AnswerOptions = {}): void {
    this.behaviours.set(name, (_, response) => send(response, status, json, headers));
  }

  /** How often it received this request. */
  count(name: string): number {
    return this.requests.filter(({ method, path }) => `${method} ${path.split('?')[0]}` === name).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function send(
  response: ServerResponse,
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
}

interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

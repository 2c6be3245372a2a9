import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The demo API: users, orders that need a key, a slow endpoint, and one that fails now and then. It needs no network.
 */
export class DemoApi implements AsyncDisposable {
  readonly #server: Server;
  readonly #key: string;
  #flaky = 0;

  private constructor(key: string) {
    this.#key = key;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  /** Listens on a free port of this machine. `key` gives access to the orders. */
  static async start(key: string): Promise<DemoApi> {
    const api = new DemoApi(key);
    await new Promise<void>((resolve, reject) => {
      api.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    api.#server.unref();
    return api;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', 'http://demo');
    const name = `${request.method} ${pathname}`;
    request.resume();
    const { status, json } = this.#answerTo(name, request.headers['x-api-key'] === this.#key);
    if (name === 'GET /slow') setTimeout(() => send(response, status, json), SLOW_MS).unref();
    else send(response, status, json);
  }

  #answerTo(name: string, hasKey: boolean): { readonly status: number; readonly json: unknown } {
    if (name === 'GET /users') return { status: 200, json: USERS };
    if (name === 'GET /slow') return { status: 200, json: { took_ms: SLOW_MS } };
    if (name === 'GET /flaky') {
      this.#flaky += 1;
      // Two failures, then a success: a retry gets through.
      return this.#flaky % 3 === 0 ? { status: 200, json: { luck: 'good' } } : { status: 503, json: { luck: 'bad' } };
    }
    if (name.endsWith(' /orders') && !hasKey) return { status: 401, json: { message: 'Authentication required.' } };
    if (name === 'GET /orders') return { status: 200, json: ORDERS };
    if (name === 'POST /orders') return { status: 201, json: { id: 1004, accepted: true } };
    return { status: 404, json: { message: `there is no ${name} here` } };
  }
}

function send(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
}

/** The endpoints in the definition of the API. */
export const DEMO_ENDPOINTS = [
  { method: 'GET', path: '/users', description: 'Everybody, with points and status.' },
  { method: 'GET', path: '/orders', description: 'All orders; needs the credential demo-orders as X-API-Key.' },
  { method: 'POST', path: '/orders', description: 'Places an order; needs the same credential.' },
  { method: 'GET', path: '/slow', description: 'Takes two seconds.' },
  { method: 'GET', path: '/flaky', description: 'Fails twice, then answers.' },
] as const;

const USERS = [
  { id: 1, name: 'Ada', status: 'active', points: 310 },
  { id: 2, name: 'Brook', status: 'active', points: 120 },
  { id: 3, name: 'Chidi', status: 'paused', points: 450 },
  { id: 4, name: 'Dora', status: 'active', points: 275 },
];

const ORDERS = [
  { id: 1001, user: 1, total: 42.5 },
  { id: 1002, user: 4, total: 17 },
  { id: 1003, user: 1, total: 99.9 },
];

const SLOW_MS = 2000;

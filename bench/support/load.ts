import { connect, type Socket } from 'node:net';

/** What one connection sends next, as the bytes of a whole HTTP request. */
export type NextRequest = () => string;

export interface LoadResult {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/**
 * Sends requests over keep-alive connections, one at a time on each, and waits for whole answers. Written on bare sockets:
 * a client library would cost more than what is measured.
 */
export async function load({ port, connections, milliseconds, next }: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  const until = performance.now() + milliseconds;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const peer = await HttpPeer.open(port);
      while (performance.now() < until) {
        const sent = performance.now();
        await peer.exchange(next());
        latencies.push(performance.now() - sent);
      }
      peer.close();
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { answers: latencies.length, perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) };
}

/**
 * One HTTP/1.1 connection: a request, then its answer by Content-Length or chunks. It keeps no body, so that reading a
 * long answer costs the same per byte as reading a short one.
 */
export class HttpPeer {
  readonly #socket: Socket;
  /** The head while it is incomplete; after it the end of what has come of a chunked body. */
  #text = '';
  /** Bytes of the body that are still to come; `undefined` while the head is, `CHUNKED` when only its end shows it. */
  #left: number | undefined;
  #answered: (() => void) | undefined;
  #started: (() => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  static open(port: number): Promise<HttpPeer> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => resolve(new HttpPeer(socket)));
      socket.once('error', reject);
    });
  }

  /** Resolves when the whole answer has come. */
  exchange(request: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  /** Resolves when the first bytes of a body have come. */
  started(): Promise<void> {
    return new Promise((resolve) => {
      this.#started = resolve;
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(text: string): void {
    const body = this.#left === undefined ? this.#takeHead(text) : text;
    if (body === undefined || this.#left === undefined) return;
    if (body !== '') this.#started?.();
    if (this.#left === CHUNKED) {
      this.#text = (body.length < END.length ? this.#text + body : body).slice(-END.length);
      if (this.#text !== END) return;
    } else {
      this.#left -= body.length;
      if (this.#left > 0) return;
    }
    this.#text = '';
    this.#left = undefined;
    this.#answered?.();
  }

  /** What follows the head, once that is whole. */
  #takeHead(text: string): string | undefined {
    this.#text += text;
    const end = this.#text.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const head = this.#text.slice(0, end);
    const body = this.#text.slice(end + 4);
    if (!head.startsWith('HTTP/1.1 200')) this.#failed?.(new Error(this.#text.slice(0, 300)));
    const length = /content-length: (\d+)/i.exec(head)?.[1];
    this.#left = length === undefined ? CHUNKED : Number(length);
    this.#text = '';
    return body;
  }
}

const CHUNKED = -1;
const END = '\r\n0\r\n\r\n';

interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  readonly next: NextRequest;
}

import { connect, type Socket } from 'node:net';

/** What one connection sends next, as the bytes of a whole HTTP request. */
export type NextRequest = () => string;

export interface LoadResult {
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
  return { perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) };
}

/** One HTTP/1.1 connection: a request, then its answer by Content-Length or chunks. */
export class HttpPeer {
  readonly #socket: Socket;
  #buffer = '';
  #wanted: ((answer: string) => void) | undefined;
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

  exchange(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#wanted = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#buffer += text;
    const head = this.#buffer.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = /content-length: (\d+)/i.exec(this.#buffer.slice(0, head))?.[1];
    const end = length === undefined ? endOfChunks(this.#buffer) : head + 4 + Number(length);
    if (end === -1 || this.#buffer.length < end) return;
    const answer = this.#buffer.slice(0, end);
    this.#buffer = this.#buffer.slice(end);
    if (!answer.startsWith('HTTP/1.1 200')) this.#failed?.(new Error(answer.slice(0, 300)));
    this.#wanted?.(answer);
  }
}

function endOfChunks(text: string): number {
  return text.endsWith('\r\n0\r\n\r\n') ? text.length : -1;
}

interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  readonly next: NextRequest;
}

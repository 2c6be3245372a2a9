import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import type { Clock, Log, UnreadBudget } from '@dragoman/core';
import { reportAcceptErrors } from './accept-errors.ts';
import { type Intake, openIntake } from './intake.ts';
import { DEFAULT_LINE_LIMITS, type LineHost, type PeerLineLimits, serveLines } from './ndjson-lines.ts';
import { reachable } from './reachable.ts';
import { clearSocketPath } from './socket-path.ts';

export interface NdjsonSocketOptions {
  readonly host: LineHost;
  readonly clock: Clock;
  readonly log?: Log;
  readonly limits?: Partial<PeerLineLimits>;
  /** Shared by all edges of a server. */
  readonly intake?: Intake;
  readonly unread?: UnreadBudget | undefined;
}

/** The edge for plain NDJSON: TCP ports and unix sockets. */
export class NdjsonSocketEdge implements AsyncDisposable {
  readonly #options: NdjsonSocketOptions;
  readonly #limits: PeerLineLimits;
  readonly #intake: Intake;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(options: NdjsonSocketOptions) {
    this.#options = options;
    this.#intake = options.intake ?? openIntake({ clock: options.clock });
    this.#limits = { ...DEFAULT_LINE_LIMITS, ...options.limits };
  }

  /** Resolves with the URL that it listens on. Port 0 is any free port. */
  async listenTcp({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
    const server = await this.#listen({ host, port });
    const address = server.address();
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    return `tcp://${reachable(host)}:${bound}`;
  }

  /**
   * Listens for this user only: the file gets its mode on creation. In a thread, which cannot set the umask, it gets
   * the mode right after.
   */
  async listenUnix(path: string): Promise<void> {
    await clearSocketPath(path);
    const before = isMainThread ? process.umask(0o177) : undefined;
    // `#listen` creates the file synchronously; only its result is asynchronous.
    const listening = this.#listen({ path });
    if (before !== undefined) process.umask(before);
    await listening;
    chmodSync(path, 0o600);
  }

  /** Accepts no new connections; the host closes the open ones. */
  async close(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    await Promise.all(closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.close();
  }

  #listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
    // A peer may end its side and still wait for its answers.
    const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 });
    server.on('connection', (socket) => this.#serve(socket));
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(where, () => {
        server.off('error', reject);
        reportAcceptErrors(server, this.#options);
        this.#servers.push(server);
        resolve(server);
      });
    });
  }

  #serve(socket: Socket): void {
    const giveBack = this.#intake.connections.take(socket.remoteAddress);
    if (giveBack === undefined) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on('close', () => {
      giveBack();
      this.#sockets.delete(socket);
    });
    const { host, clock, unread } = this.#options;
    const { remoteAddress: address } = socket;
    const options = { host, clock, address, limits: this.#limits, intake: this.#intake, unread };
    void serveLines({ input: socket, output: socket }, options).then(() => {
      // Reads the peer's remaining bytes for a limited time, because a reset could overtake our last bytes.
      socket.resume();
      clock.after(LINGER_MS, () => socket.destroy());
    });
  }
}

const LINGER_MS = 2_000;

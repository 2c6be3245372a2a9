import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The faults of one connection. Bytes are those of the answer, including headers. */
export interface Fault {
  /** Break it off after this many bytes of the server's. */
  readonly cutAfter?: number;
  /** Break it off as soon as the client has sent something, before the server receives it. */
  readonly refuse?: boolean;
  /** Break it off when the server has received everything and before the client receives a byte. */
  readonly deaf?: boolean;
  /** Delays every byte of the server. */
  readonly delayMs?: number;
  /** Forwards nothing from the server and leaves the connection open. */
  readonly silent?: boolean;
}

/** A TCP proxy that breaks connections: the first one by the first fault, and so on; then none. */
export class FaultProxy {
  readonly url: string;
  /** The server's bytes that each connection got through. */
  readonly passed: Buffer[] = [];
  readonly #server: Server;
  readonly #target: { port: number };
  readonly #faults: Fault[] = [];
  readonly #sockets = new Set<Socket>();

  static async before(url: string): Promise<FaultProxy> {
    const target = { port: Number(new URL(url).port) };
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new FaultProxy(server, target);
    onTestFinished(() => proxy.stop());
    return proxy;
  }

  private constructor(server: Server, target: { port: number }) {
    this.#server = server;
    this.#target = target;
    const address = server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    server.on('connection', (socket) => this.#join(socket));
  }

  get connections(): number {
    return this.passed.length;
  }

  /** The faults of the next connections. */
  plan(...faults: Fault[]): void {
    this.#faults.length = 0;
    this.#faults.push(...faults);
  }

  /** Breaks off every open connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Leads to another server from now on. */
  lead(url: string): void {
    this.#target.port = Number(new URL(url).port);
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const { cutAfter, refuse, deaf, delayMs = 0, silent } = this.#faults.shift() ?? {};
    const index = this.passed.push(Buffer.alloc(0)) - 1;
    const server = dial(this.#target.port, '127.0.0.1');
    const both = [client, server];
    const end = () => {
      for (const socket of both) socket.destroy();
    };
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      if (refuse === true) end();
      else server.write(chunk);
    });
    server.on('data', async (chunk) => {
      if (silent === true) return;
      if (deaf === true) return end();
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      const passed = this.passed[index] ?? Buffer.alloc(0);
      const allowed = cutAfter === undefined ? chunk.length : Math.max(0, cutAfter - passed.length);
      const part = chunk.subarray(0, allowed);
      this.passed[index] = Buffer.concat([passed, part]);
      if (part.length === chunk.length) client.write(part);
      else if (part.length === 0) end();
      // Forwarded bytes must arrive before the connection breaks.
      else client.write(part, end);
    });
  }
}

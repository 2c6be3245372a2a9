import { connect, type Socket } from 'node:net';

/** A peer that sends exactly the given bytes, and keeps what it receives. */
export class RawPeer implements Disposable {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  readonly #received: Buffer[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#received.push(chunk));
    this.closed = new Promise((resolve) => socket.on('close', () => resolve()));
  }

  static connect(port: number): Promise<RawPeer> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => {
        socket.off('error', reject);
        resolve(new RawPeer(socket));
      });
      socket.once('error', reject);
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#received);
  }

  get text(): string {
    return this.bytes.toString('latin1');
  }

  /** True while the kernel takes it. */
  send(bytes: string | Uint8Array): boolean {
    return this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Resolves when this is received; rejects when the connection closes before it. */
  async waitFor(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.socket.destroyed) throw new Error(`closed before ${pattern} was received: ${this.text}`);
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.socket.off('data', wake).off('close', wake);
          resolve();
        };
        this.socket.on('data', wake).on('close', wake);
      });
    }
    return this.text;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

/** Sends bytes on a new connection, and returns everything received until the server closes it. */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<string> {
  const peer = await RawPeer.connect(port);
  peer.send(bytes);
  await peer.closed;
  return peer.text;
}

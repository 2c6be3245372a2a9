import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CallbackReceiver, type CallbackReceiverOptions, CallbackRefused } from '@dragoman/client';
import { visible } from '../visible.ts';
import type { ListenCertificate } from './certificate.ts';

export interface ReceiverOptions {
  /** The keys for checking signatures. Called when a callback arrives, because the server may start later. */
  readonly keys: () => Promise<Pick<CallbackReceiverOptions, 'secret' | 'publicKey'>>;
  readonly onAnswer: CallbackReceiverOptions['onAnswer'];
  /** Gets a line for each repeat and each refused callback. */
  readonly note: (line: string) => void;
}

/** Receives callbacks over TLS on this machine. */
export class Receiver implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on a port; 0 is any free port. Rejects if the port is in use. */
  static async listen(port: number, { cert, key }: ListenCertificate, options: ReceiverOptions): Promise<Receiver> {
    const { keys, onAnswer, note } = options;
    let made: CallbackReceiver | undefined;
    const receiver = async () => {
      if (made !== undefined) return made;
      const known = await keys();
      // One for all callbacks: it recognizes repeats.
      made ??= new CallbackReceiver({ ...known, onAnswer });
      return made;
    };
    const server = createServer(
      { cert, key },
      (request, response) => void receive(request, response, { receiver, note }),
    );
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new Receiver(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { receiver, note }: { receiver: () => Promise<CallbackReceiver>; note: (line: string) => void },
): Promise<void> {
  // The answer to a browser that opens the URL.
  if (request.method !== 'POST') return void response.writeHead(405, { Allow: 'POST' }).end();
  try {
    const { id, isRepeat } = await (await receiver()).receive({ headers: request.headers, body: request });
    if (isRepeat) note(`${visible(id)} received again`);
    response.writeHead(204).end();
  } catch (error) {
    const [status, message] = error instanceof CallbackRefused ? [error.status, error.message] : [500, String(error)];
    note(`refused with ${status}: ${visible(message)}`);
    response.writeHead(status).end();
  }
}

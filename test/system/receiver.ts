import { createHmac, createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Certificate } from './test-authority.ts';

/** One received callback, whole. */
export interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
  readonly path: string;
}

/** What a receiver does with its nth callback, counted from 0. */
export type Behaviour = (response: ServerResponse, number: number, request: IncomingMessage) => void;

/** A real https server on this machine that is called back. */
export class Receiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #host: string;
  #waiting: (() => void)[] = [];

  private constructor(server: Server, host: string) {
    this.#server = server;
    this.#host = host;
  }

  static async start(
    { cert, key }: Certificate,
    behave: Behaviour = ok,
    { host = '127.0.0.1', port = 0 }: { host?: string; port?: number } = {},
  ): Promise<Receiver> {
    const server = createServer({ cert, key });
    const receiver = new Receiver(server, host);
    server.on('connection', (socket) => {
      receiver.#sockets.add(socket);
      socket.once('close', () => receiver.#sockets.delete(socket));
    });
    server.on('request', async (request, response) => {
      let body = '';
      for await (const part of request.setEncoding('utf8')) body += part;
      const { headers, url = '' } = request;
      const number = receiver.received.length;
      receiver.received.push({ id: String(headers['webhook-id']), headers, body, at: Date.now(), path: url });
      behave(response, number, request);
      const waiting = receiver.#waiting;
      receiver.#waiting = [];
      for (const wake of waiting) wake();
    });
    server.listen(port, host);
    await once(server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** As `gate.callbacks` names it. */
  get hostPort(): string {
    return `${this.#host}:${this.port}`;
  }

  url(path = '/in'): string {
    return `https://${this.hostPort}${path}`;
  }

  /** Resolves when so many have come. */
  async until(count: number): Promise<readonly Received[]> {
    while (this.received.length < count) await new Promise<void>((wake) => this.#waiting.push(wake));
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

export function ok(response: ServerResponse): void {
  response.writeHead(200).end();
}

/** Whether the signatures are right, checked by the text of Standard Webhooks, without code of ours. */
export function isSigned({ headers, body }: Received, keys: { secret?: string; publicKey?: string }): boolean {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const signatures = new Map(
    String(headers['webhook-signature'])
      .split(' ')
      .map((text) => text.split(',') as [string, string]),
  );
  if (keys.secret !== undefined) {
    const secret = Buffer.from(keys.secret.replace(/^whsec_/, ''), 'base64');
    if (signatures.get('v1') !== createHmac('sha256', secret).update(content).digest('base64')) return false;
  }
  if (keys.publicKey === undefined) return true;
  const x = Buffer.from(keys.publicKey.replace(/^whpk_/, ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(content), key, Buffer.from(signatures.get('v1a') ?? '', 'base64'));
}

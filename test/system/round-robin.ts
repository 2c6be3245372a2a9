import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { System } from './system.ts';

/** A load balancer that sends each request to the next node. */
export class RoundRobin implements AsyncDisposable {
  readonly #server: Server;
  /** How many requests each node has received, by its address. */
  readonly counts = new Map<string, number>();

  private constructor(nodes: readonly System[]) {
    let next = 0;
    this.#server = createServer((incoming, response) => {
      const { url } = nodes[next++ % nodes.length] as System;
      this.counts.set(url, (this.counts.get(url) ?? 0) + 1);
      const { method = 'GET', headers, url: path = '/' } = incoming;
      const outgoing = request(new URL(path, url), { method, headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.on('error', () => response.destroy()).pipe(response);
      });
      outgoing.on('error', () => response.destroy());
      response.on('close', () => outgoing.destroy());
      incoming.pipe(outgoing);
    });
  }

  static async start(nodes: readonly System[]): Promise<RoundRobin> {
    const balancer = new RoundRobin(nodes);
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve));
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

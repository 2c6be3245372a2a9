import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Json, JsonObject } from '../../packages/protocols/src/json.ts';

/** A test's own agent that dials in: it records envelopes and sends the frames of the test. */
export class DialledAgent {
  readonly received: (JsonObject & { readonly request_id: string })[] = [];
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.received.push(JSON.parse(data.toString())));
    this.closed = new Promise((resolve) => socket.once('close', resolve));
  }

  static async dial(url: string, key: string): Promise<DialledAgent> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/e2a/agent/ws`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const agent = new DialledAgent(socket);
    await once(socket, 'open');
    return agent;
  }

  send(frame: JsonObject): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Sends a message that answers no request. */
  push(delta: Json, to: JsonObject): void {
    const metadata = { _jiuwenswarm_server_push: true };
    const body = { delta_kind: 'custom', delta };
    this.send({ protocol_version: '1.0', response_kind: 'e2a.chunk', sequence: 0, metadata, body, ...to });
  }

  complete(requestId: string, result: JsonObject): void {
    this.send({ request_id: requestId, response_kind: 'e2a.complete', body: { result } });
  }

  close(): void {
    this.#socket.terminate();
  }
}

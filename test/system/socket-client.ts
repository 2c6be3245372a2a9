import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';

/** A WebSocket to `/e2a/ws` that sorts received messages by `request_id`. */
export class SocketClient {
  readonly webSocket: WebSocket;
  /** The close code, once it is closed. */
  readonly closed: Promise<number>;
  readonly #received: string[] = [];
  readonly #listeners = new Set<() => void>();
  #isClosed = false;

  private constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('error', () => {});
    webSocket.on('message', (data) => {
      this.#received.push(data.toString());
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      webSocket.on('close', (code) => {
        this.#isClosed = true;
        resolve(code);
        this.#wake();
      });
    });
  }

  /** Resolves when the server has sent its ready frame. */
  static async open(url: string, key: string): Promise<SocketClient> {
    const webSocket = new WebSocket(`${url.replace('http', 'ws')}/e2a/ws`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const client = new SocketClient(webSocket);
    await once(webSocket, 'open');
    await client.#next((text) => JSON.parse(text).event === 'connection.ack');
    return client;
  }

  send(message: JsonObject | string): void {
    this.webSocket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The text of each frame with this id, up to the final one. Throws when the connection closes before it. */
  async *frames(requestId: string | null): AsyncGenerator<string> {
    for (;;) {
      const text = await this.#next((received) => JSON.parse(received).request_id === requestId);
      yield text;
      if (JSON.parse(text).is_final === true) return;
    }
  }

  /** Sends an envelope and gives back every frame of its answer. */
  async ask(envelope: JsonObject & { request_id: string }): Promise<string[]> {
    this.send(envelope);
    const frames: string[] = [];
    for await (const frame of this.frames(envelope.request_id)) frames.push(frame);
    return frames;
  }

  close(): void {
    this.webSocket.terminate();
  }

  /** Takes the first matching message, waiting for it if need be. */
  async #next(isWanted: (text: string) => boolean): Promise<string> {
    for (;;) {
      const at = this.#received.findIndex(isWanted);
      if (at !== -1) return this.#received.splice(at, 1)[0] ?? '';
      if (this.#isClosed) throw new Error('the connection closed before the answer was whole');
      await new Promise<void>((resolve) => {
        const listener = () => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}

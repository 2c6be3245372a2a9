import { unreachable } from '../attempt.ts';
import { DragomanError } from '../dragoman-error.ts';
import { serverUrl } from '../http.ts';
import { objectGiven } from '../invalid-argument.ts';
import type { WebSocketLike } from '../web-socket.ts';
import type { WireTransport } from './wire-transport.ts';

export interface WebSocketWireOptions {
  /** The base URL of the server, such as `http://127.0.0.1:7420`. */
  readonly url: string;
  /** For runtimes without a WebSocket: for example that of the `ws` package. */
  readonly WebSocket?: new (
    url: string,
  ) => WebSocketLike;
}

/** The wire over a WebSocket. The key is in the handshake of the wire, so a browser's WebSocket is sufficient. */
export function webSocketWire(options: WebSocketWireOptions): WireTransport {
  const { url, WebSocket: given } = objectGiven(options, 'options', "{ url: 'http://127.0.0.1:7420' }");
  // `ws:` and `wss:` are accepted, too.
  const server = typeof url === 'string' ? url.replace(/^ws(?=s?:)/i, 'http') : url;
  const address = `${serverUrl(server).replace(/^http/, 'ws')}a2e/ws`;
  return {
    open: ({ onMessage, onClosed }, signal) =>
      new Promise((resolve, reject) => {
        const WebSocket =
          given ?? (globalThis as unknown as { WebSocket?: new (url: string) => WebSocketLike }).WebSocket;
        if (WebSocket === undefined) return reject(noWebSocket());
        const socket = new WebSocket(address);
        let isOpen = false;
        const giveUp = () => socket.close();
        signal?.addEventListener('abort', giveUp, { once: true });
        socket.addEventListener('open', () => {
          isOpen = true;
          signal?.removeEventListener('abort', giveUp);
          resolve({ send: (text) => socket.send(text), close: () => socket.close(1000) });
        });
        socket.addEventListener('message', ({ data }) => {
          if (typeof data === 'string') onMessage(data);
        });
        // The close event that follows has more details.
        socket.addEventListener('error', () => {});
        socket.addEventListener('close', ({ code, reason }) => {
          signal?.removeEventListener('abort', giveUp);
          const error = unreachable(url, `the WebSocket was closed, ${code}${wordsOf(code, reason)}`);
          if (isOpen) onClosed(error);
          else reject(error);
        });
      }),
  };
}

/** The reason for a close (RFC 6455 §7.4.1), as part of an error message. */
function wordsOf(code: number, reason: string): string {
  const words = reason === '' && code === TOO_BIG ? 'a message exceeded the size limit of the host' : reason;
  return words === '' ? '' : ` ${words}`;
}

function noWebSocket(): DragomanError {
  return new DragomanError({
    code: 'unsupported',
    message: 'webSocketWire() needs a WebSocket, and this runtime has none.',
    suggestions: ["in Node before 22, pass one: import WebSocket from 'ws'; webSocketWire({ url, WebSocket })"],
  });
}

const TOO_BIG = 1009;

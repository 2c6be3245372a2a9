import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { type Json, type JsonObject, LineSplitter, SseParser } from '@dragoman/protocols';
import WebSocket from 'ws';
import { systemClock } from '../parts/system-ports.ts';
import type { WirePart } from '../parts/wire.ts';
import type { Server } from '../server.ts';
import { serveStdio } from './stdio.ts';

/** An agent at the other end of a connection, for tests. */
export interface WirePeer extends AsyncDisposable {
  /** One message, or any text in its place. */
  send(message: JsonObject | string): void;
  /** The next message that comes; `undefined` when the connection has ended. */
  next(): Promise<JsonObject | undefined>;
  /** Closes this peer's side. */
  end(): void;
}

/** The addresses of a server. */
export interface WirePlace {
  readonly url: string;
  readonly wire: Pick<WirePart, 'url' | 'socket'>;
}

/** The ways over the network. A new transport is a line here. */
export const NETWORK_TRANSPORTS: Readonly<Record<string, (server: WirePlace, key: string) => Promise<WirePeer>>> = {
  tcp: (server) => socketPeer(connect({ port: Number(new URL(server.wire.url ?? '').port), host: '127.0.0.1' })),
  unix: (server) => socketPeer(connect(server.wire.socket ?? '')),
  websocket: (server) => websocketPeer(server),
  http: async (server, key) => {
    const headers = { authorization: `Bearer ${key}` };
    const opened = await fetch(`${server.url}/a2e/session`, { method: 'POST', headers });
    const { session_id } = (await opened.json()) as { session_id: string };
    const own = { ...headers, 'x-session-id': session_id };
    const inbox = new Inbox();
    const gone = new AbortController();
    void readStream(`${server.url}/a2e/stream`, own, inbox, gone.signal);
    let before: Promise<unknown> = Promise.resolve();
    const post = (body: string) =>
      fetch(`${server.url}/a2e/send`, {
        method: 'POST',
        body,
        headers: { ...own, 'content-type': 'application/json' },
      });
    return peerOf(inbox, {
      // In sequence, because concurrent requests may overtake each other.
      write: (text) => {
        before = before.then(() => post(text)).catch(() => {});
      },
      end: () => gone.abort(),
    });
  },
};

export async function websocketPeer({ url }: Pick<WirePlace, 'url'>): Promise<WirePeer> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/a2e/ws`);
  const inbox = new Inbox();
  socket.on('message', (data) => inbox.push(JSON.parse(data.toString())));
  socket.on('close', () => inbox.end());
  await once(socket, 'open');
  return peerOf(inbox, { write: (text) => socket.send(text), end: () => socket.close() });
}

/** Every transport of the wire host. */
export const TRANSPORTS: Readonly<Record<string, (server: Server, key: string) => Promise<WirePeer>>> = {
  stdio: async (server) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    void serveStdio({ input, output }, { host: server.wire.host, clock: systemClock });
    return linePeer({ write: (text) => void input.write(text), end: () => void input.end(), read: output });
  },
  ...NETWORK_TRANSPORTS,
};

export async function socketPeer(socket: Socket): Promise<WirePeer> {
  await once(socket, 'connect');
  return linePeer({ write: (text) => void socket.write(text), end: () => void socket.end(), read: socket });
}

interface Way {
  write(text: string): void;
  end(): void;
}

export function linePeer({ read, ...way }: Way & { readonly read: NodeJS.ReadableStream }): WirePeer {
  const inbox = new Inbox();
  const splitter = new LineSplitter();
  read.on('data', (chunk: Uint8Array) => {
    for (const line of splitter.push(chunk)) if (line.ok) inbox.push(JSON.parse(Buffer.from(line.value).toString()));
  });
  for (const event of ['end', 'close', 'error']) read.on(event, () => inbox.end());
  return peerOf(inbox, { write: (text) => way.write(`${text}\n`), end: way.end });
}

function peerOf(inbox: Inbox, { write, end }: Way): WirePeer {
  return {
    send: (message) => write(typeof message === 'string' ? message : JSON.stringify(message)),
    next: () => inbox.next(),
    end,
    async [Symbol.asyncDispose]() {
      end();
    },
  };
}

async function readStream(url: string, headers: Record<string, string>, inbox: Inbox, signal: AbortSignal) {
  try {
    const parser = new SseParser();
    const answer = await fetch(url, { headers, signal });
    for await (const chunk of answer.body ?? []) {
      for (const event of parser.push(chunk)) if (event.ok) inbox.push(JSON.parse(event.value.data));
    }
  } catch {
    // The test has aborted the stream.
  }
  inbox.end();
}

class Inbox {
  readonly #messages: JsonObject[] = [];
  #reader: ((message: JsonObject | undefined) => void) | undefined;
  #hasEnded = false;

  push(message: Json): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#messages.push(message as JsonObject);
    else reader(message as JsonObject);
  }

  end(): void {
    this.#hasEnded = true;
    this.#reader?.(undefined);
    this.#reader = undefined;
  }

  next(): Promise<JsonObject | undefined> {
    const message = this.#messages.shift();
    if (message !== undefined || this.#hasEnded) return Promise.resolve(message);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }
}

import { type E2AResponse, isObject, isServerPush, parseJson } from '@dragoman/protocols';
import { unreachable } from './attempt.ts';
import { DragomanError } from './dragoman-error.ts';
import { FrameQueue } from './frame-queue.ts';
import { readFrame } from './read-frame.ts';
import type { WebSocketConstructor, WebSocketLike } from './web-socket.ts';

export interface DialOptions {
  /** The server's URL, `http` or `https`, with a slash at its end. */
  readonly url: string;
  readonly key: string | undefined;
  readonly WebSocket: WebSocketConstructor | undefined;
  /** The timeout for the server's acknowledgement. */
  readonly readyMs: number;
  readonly onPush: ((frame: E2AResponse) => void) | undefined;
}

/**
 * One WebSocket, shared by many answers:
 *
 *   dialled ──connection.ack──▶ ready ──close, error, silence──▶ gone
 *      └───────close, error, too late──────────────────────────▶ gone
 */
export class SocketConnection {
  readonly #url: string;
  readonly #socket: WebSocketLike;
  readonly #onPush: ((frame: E2AResponse) => void) | undefined;
  readonly #queues = new Map<string, FrameQueue>();
  /** The ids of requests whose frames the server sends here, whether they are read or not, until the final frame. */
  readonly #carried = new Set<string>();
  readonly #ready: Promise<void>;
  readonly #closed: Promise<void>;
  #setReady = () => {};
  #setFailed: (error: unknown) => void = () => {};
  #setClosed = () => {};
  #isGone = false;

  /** Connects, and resolves when the server is ready for the first request. */
  static async dial(options: DialOptions): Promise<SocketConnection> {
    const connection = new SocketConnection(options);
    const timer = setTimeout(
      () => connection.drop(unreachable(options.url, 'the WebSocket was silent')),
      options.readyMs,
    );
    try {
      await connection.#ready;
      return connection;
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor({ url, key, WebSocket, onPush }: DialOptions) {
    this.#url = url;
    this.#onPush = onPush;
    this.#socket = newSocket(url, key, WebSocket);
    this.#ready = new Promise((resolve, reject) => {
      this.#setReady = resolve;
      this.#setFailed = reject;
    });
    this.#closed = new Promise((resolve) => {
      this.#setClosed = resolve;
    });
    this.#ready.catch(() => {});
    this.#socket.addEventListener('message', ({ data }) => this.#receive(data));
    // The close event that follows has more details.
    this.#socket.addEventListener('error', () => {});
    this.#socket.addEventListener('close', ({ code, reason }) => {
      this.#setClosed();
      this.drop(closedBy(this.#url, code, reason));
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether the server is sending the frames of this request here already. */
  carries(requestId: string): boolean {
    return this.#carried.has(requestId);
  }

  /** Sends an envelope and collects the frames of its answer. A resume has an id of its own, `askId`. */
  ask(text: string, { requestId, askId = requestId }: { requestId: string; askId?: string }): FrameQueue {
    const queue = new FrameQueue();
    this.#queues.set(requestId, queue);
    this.#queues.set(askId, queue);
    this.#carried.add(requestId);
    try {
      this.#socket.send(text);
    } catch (error) {
      this.drop(unreachable(this.#url, error));
    }
    if (this.#isGone) queue.fail(unreachable(this.#url, 'the WebSocket is closed'));
    return queue;
  }

  /** Stops collecting frames, because the reader has left. */
  forget(queue: FrameQueue): void {
    for (const [id, other] of this.#queues) if (other === queue) this.#queues.delete(id);
  }

  /** Fails the connection: every waiting call is rejected with the reason. */
  drop(error: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#setFailed(error);
    for (const queue of this.#queues.values()) queue.fail(error);
    this.#queues.clear();
    this.#close();
  }

  /** Closes the connection, and waits a limited time for the server's close. */
  async close(): Promise<void> {
    this.drop(closedByUs());
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#closed, late]);
    clearTimeout(timer);
  }

  #close(): void {
    try {
      this.#socket.close(1000);
    } catch {
      // The socket is not open yet, or closed already.
    }
  }

  #receive(data: unknown): void {
    if (this.#isGone || typeof data !== 'string') return;
    try {
      if (isEvent(data)) {
        if (data.includes('"connection.ack"')) this.#setReady();
        return;
      }
      const frame = readFrame(data);
      if (isServerPush(frame)) this.#onPush?.(frame);
      else this.#route(frame, data.length);
    } catch (error) {
      this.drop(error);
    }
  }

  #route(frame: E2AResponse, size: number): void {
    const { request_id: id, is_final } = frame;
    if (id === null) return;
    if (is_final) this.#carried.delete(id);
    this.#queues.get(id)?.push(frame, size);
  }
}

/** Whether a message is an event of the connection, not a frame of a request. */
function isEvent(text: string): boolean {
  if (!text.startsWith('{"type":"event"') && !text.includes('"event"')) return false;
  const json = parseJson(text);
  return json.ok && isObject(json.value) && json.value['type'] === 'event';
}

/**
 * Opens a WebSocket with the key among the subprotocols: a browser cannot set any other header, so every runtime does
 * it like this.
 */
function newSocket(url: string, key: string | undefined, given: WebSocketConstructor | undefined): WebSocketLike {
  const WebSocket = given ?? (globalThis as unknown as { WebSocket?: WebSocketConstructor }).WebSocket;
  if (WebSocket === undefined) throw noWebSocket();
  const protocols = key === undefined ? ['dragoman'] : ['dragoman', `key.${base64url(key)}`];
  return new WebSocket(`${url.replace(/^http/, 'ws')}e2a/ws`, protocols);
}

/** Encodes a key, which is ASCII. */
function base64url(key: string): string {
  return btoa(key).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function noWebSocket(): DragomanError {
  return new DragomanError({
    code: 'unsupported',
    message: 'connect() needs a WebSocket, and this runtime has none.',
    suggestions: [
      "pass one: import WebSocket from 'ws'; createClient({ url, key, WebSocket })",
      'or use send(): it streams and resumes too',
    ],
  });
}

function closedBy(url: string, code: number, reason: string): DragomanError {
  // RFC 6455 §7.4.1: 1008 is a violated policy, such as a revoked key.
  if (code !== 1008) return unreachable(url, `the WebSocket was closed, ${code}${reason === '' ? '' : ` ${reason}`}`);
  return new DragomanError({
    code: reason === '' ? 'forbidden' : reason,
    message: 'The server closed the connection.',
  });
}

function closedByUs(): DragomanError {
  return new DragomanError({
    code: 'closed',
    message: 'The session was closed before the final frame arrived.',
    suggestions: ['the work continues: read the rest with client.resume(requestId, { after })'],
  });
}

const CLOSE_MS = 3_000;

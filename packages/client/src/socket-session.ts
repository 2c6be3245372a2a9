import { type E2AEnvelope, type E2AResponse, encodeEnvelope, newEnvelope } from '@dragoman/protocols';
import type { StreamedAnswer } from './answer.ts';
import { Attempt } from './attempt.ts';
import type { SendOptions } from './client.ts';
import { DragomanError, errorOfFrame } from './dragoman-error.ts';
import type { SendInput } from './envelope-of.ts';
import type { Http } from './http.ts';
import { newRequestId } from './request-id.ts';
import { type RetryOptions, RetryPauses } from './retry.ts';
import { SocketConnection } from './socket-connection.ts';
import type { ResumeAttempt, SendAttempt, Transport } from './transport.ts';
import type { WebSocketConstructor } from './web-socket.ts';

export interface ConnectOptions {
  /** Aborts the first connection attempt. */
  readonly signal?: AbortSignal;
  /** Called for frames that the server sends by itself, which answer no request. */
  readonly onPush?: (frame: E2AResponse) => void;
}

interface SessionParts extends ConnectOptions {
  readonly http: Http;
  readonly overHttp: Transport;
  readonly retry: Required<RetryOptions>;
  readonly WebSocket: WebSocketConstructor | undefined;
  readonly send: (transport: Transport, input: SendInput, options: SendOptions) => StreamedAnswer;
}

/**
 * Many requests over one WebSocket. A lost connection is replaced when the next one is needed, and every answer
 * continues after its last frame.
 */
export class SocketSession implements AsyncDisposable {
  readonly #parts: SessionParts;
  readonly #transport: Transport;
  #connection: SocketConnection | undefined;
  #dialling: Promise<SocketConnection> | undefined;
  #isClosed = false;

  static async open(parts: SessionParts): Promise<SocketSession> {
    const session = new SocketSession(parts);
    const backoff = new RetryPauses(parts.retry);
    for (;;) {
      try {
        await session.#ready(parts.signal);
        return session;
      } catch (error) {
        parts.signal?.throwIfAborted();
        if (!(error instanceof DragomanError)) throw error;
        await backoff.wait(backoff.next(error), parts.signal);
      }
    }
  }

  private constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#transport = {
      send: (envelope, options) => this.#sendOnce(envelope, options),
      resume: (requestId, options) => this.#resumeOnce(requestId, options),
    };
  }

  /** Like `Client.send`, over this connection. */
  send(input: SendInput, options: SendOptions = {}): StreamedAnswer {
    return this.#parts.send(this.#transport, input, options);
  }

  /** Closes the session. Incomplete answers end with the error `closed`; their work continues. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#connection ?? (await this.#dialling?.catch(() => undefined));
    await connection?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#sendOnce(envelope: E2AEnvelope, { signal }: SendAttempt): AsyncGenerator<E2AResponse | undefined> {
    const text = JSON.stringify(encodeEnvelope(envelope));
    const requestId = envelope.request_id ?? '';
    const connection = await this.#ready(signal);
    yield* this.#answer(connection, { text, requestId, askId: requestId, after: -1, signal });
  }

  async *#resumeOnce(requestId: string, options: ResumeAttempt): AsyncGenerator<E2AResponse | undefined> {
    const { after, signal } = options;
    const connection = await this.#ready(signal);
    // The frames of an earlier reader still arrive here, and the two streams could not be distinguished on one
    // connection.
    if (connection.carries(requestId)) {
      yield* this.#parts.overHttp.resume(requestId, options);
      return;
    }
    const askId = newRequestId();
    const params = { request_id: requestId, after };
    const envelope = newEnvelope({ request_id: askId, method: 'chat.resume', params, is_stream: true });
    const text = JSON.stringify(encodeEnvelope(envelope));
    yield* this.#answer(connection, { text, requestId, askId, after, signal });
  }

  async *#answer(connection: SocketConnection, ask: Ask): AsyncGenerator<E2AResponse | undefined> {
    const { http, overHttp, retry } = this.#parts;
    const { requestId, askId, signal } = ask;
    const attempt = new Attempt({ caller: signal, silenceMs: retry.silenceMs, url: http.url });
    const queue = connection.ask(ask.text, { requestId, askId });
    let { after } = ask;
    try {
      for (;;) {
        const frame = await attempt.wait(queue.next(attempt.signal));
        if (frame === undefined || isTooLarge(frame)) break;
        if (isRefusal(frame, ask)) throw errorOfFrame(frame);
        // A keepalive frame has the number -1.
        after = Math.max(after, frame.sequence);
        yield frame;
      }
    } catch (error) {
      // The server sends a heartbeat every 10 s, so a silent connection is lost, even if it looks open.
      if (attempt.signal.aborted && signal?.aborted !== true) connection.drop(error);
      throw error;
    } finally {
      connection.forget(queue);
      attempt.end();
    }
    // The missing frames are read from the journal.
    yield* overHttp.resume(requestId, { after, signal });
  }

  /** A connection that is ready, shared by concurrent callers. */
  #ready(signal: AbortSignal | undefined): Promise<SocketConnection> {
    if (this.#isClosed) return Promise.reject(closed());
    if (this.#connection?.isGone === false) return Promise.resolve(this.#connection);
    this.#dialling ??= this.#dial().finally(() => {
      this.#dialling = undefined;
    });
    return unlessAborted(this.#dialling, signal);
  }

  async #dial(): Promise<SocketConnection> {
    const { http, WebSocket, retry, onPush } = this.#parts;
    const { url, key } = http;
    try {
      this.#connection = await SocketConnection.dial({ url, key, WebSocket, readyMs: retry.silenceMs, onPush });
    } catch (error) {
      throw await this.#explained(error);
    }
    if (!this.#isClosed) return this.#connection;
    await this.#connection.close();
    throw closed();
  }

  /**
   * Asks over HTTP why a WebSocket was refused, which it does not report. A "not found" for an unknown request means
   * that HTTP works.
   */
  async #explained(error: unknown): Promise<unknown> {
    if (!(error instanceof DragomanError) || error.code !== 'unreachable') return error;
    try {
      await this.#parts.http.json({ path: `e2a/requests/${newRequestId()}/responses`, gives: {} });
      return error;
    } catch (reason) {
      return reason instanceof DragomanError && !reason.is('not_found') ? reason : error;
    }
  }
}

interface Ask {
  readonly text: string;
  /** The id of the request whose frames are wanted. */
  readonly requestId: string;
  /** The id of the envelope that asks for them. */
  readonly askId: string;
  readonly after: number;
  readonly signal: AbortSignal | undefined;
}

/** Whether a frame is a refusal of the server instead of an answer. It is not in the journal. */
function isRefusal(frame: E2AResponse, { requestId, askId }: Ask): boolean {
  if (frame.response_kind !== 'e2a.error' || !frame.is_final) return false;
  return askId === requestId ? frame.identity_origin === 'system' && frame.sequence === 0 : frame.request_id === askId;
}

/** Whether a frame stands for one that is too large for a WebSocket message. */
function isTooLarge({ response_kind, body }: E2AResponse): boolean {
  return response_kind === 'e2a.error' && body['code'] === 'response_too_large';
}

function closed(): DragomanError {
  return new DragomanError({
    code: 'closed',
    message: 'The session was closed.',
    suggestions: ['open another: connect()'],
  });
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

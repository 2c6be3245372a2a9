import { type Call, failureOf, frameText, type Principal, Refused, type RequestKey } from '@dragoman/core';
import {
  type E2AEnvelope,
  type E2AResponse,
  e2aDialect,
  encodeResponse,
  type Failure,
  failure,
  newEnvelope,
  newResponse,
  type Stamp,
} from '@dragoman/protocols';
import { jsonLimits } from '../door-limits.ts';
import { isFailure } from '../problem.ts';
import { mentionedId, readEnvelope, withRequestId } from '../read-envelope.ts';
import type { Connection, SocketRoute } from '../route.ts';
import type { E2AContext } from './e2a.ts';

/**
 * E2A over a WebSocket: one envelope a message, answered by frames with its `request_id`, many at once. A connection that
 * breaks ends nothing: `chat.resume` with `request_id` and `after`, on a new one, gets exactly the rest.
 */
export function e2aSocketRoute(context: E2AContext): SocketRoute {
  return {
    path: '/e2a/ws',
    access: 'agent',
    subprotocols: ['dragoman'],
    summary: 'Envelopes in, frames out, many requests at once.',
    open: (connection) => new E2ASocket(connection, context).serve(),
  };
}

class E2ASocket {
  readonly #connection: Connection;
  readonly #context: E2AContext;
  readonly #inFlight = new Set<string>();
  #hasMissed = false;

  constructor(connection: Connection, context: E2AContext) {
    this.#connection = connection;
    this.#context = context;
  }

  async serve(): Promise<void> {
    const { engine } = this.#context;
    const unsubscribe = engine.pushes.subscribe(this.#principal, (text) => this.#push(text));
    try {
      await this.#serve();
    } finally {
      unsubscribe();
    }
  }

  async #serve(): Promise<void> {
    // Clients wait for this before they send anything.
    await this.#connection.send('{"type":"event","event":"connection.ack","payload":{"status":"ready"}}');
    const answers = new Set<Promise<void>>();
    for await (const text of this.#connection.messages) {
      const answer = this.#answer(text).catch((error: unknown) => {
        // The peer is gone: the work goes on, and nobody is there to be told.
        if (!this.#connection.signal.aborted)
          this.#context.log.error({ error: String(error) }, 'an answer could not be sent');
      });
      answers.add(answer);
      void answer.finally(() => answers.delete(answer));
    }
    await Promise.all(answers);
  }

  async #answer(text: string): Promise<void> {
    const principal = this.#principal;
    const { clock, limits } = this.#context;
    const read = readEnvelope(text, { principal, now: clock.now(), limits: jsonLimits(limits) });
    if (isFailure(read)) return this.#refuse(read, newEnvelope({ request_id: mentionedId(text) }));
    const envelope = withRequestId(read.envelope, this.#context.ids, undefined);
    const requestId = envelope.request_id ?? '';
    if (this.#inFlight.has(requestId)) {
      return this.#refuse(failure('conflict', {}, 'This id is being answered on this connection already.'), envelope);
    }
    this.#inFlight.add(requestId);
    let isAccepted = false;
    const onAccepted = () => {
      isAccepted = true;
    };
    try {
      const received = { dialect: 'e2a', text, json: read.json };
      const call: Call = { principal, signal: this.#connection.signal, log: this.#context.log, received, onAccepted };
      await this.#send(this.#frames(envelope, call), envelope);
    } catch (error) {
      const known = failureOf(error);
      // A peer that hangs up is no failure of ours: anybody could fill the log with it.
      if (known === undefined && !this.#connection.signal.aborted)
        this.#context.log.error({ request_id: requestId, error: String(error) }, 'a request failed');
      // What is recorded has its end in the journal, or will have: one made up here would be a second.
      if (!isAccepted) await this.#refuse(known ?? failure('internal'), envelope);
    } finally {
      this.#inFlight.delete(requestId);
    }
  }

  get #principal(): Principal {
    const { principal } = this.#connection;
    if (principal === undefined) throw new Error('an agent socket was opened without a caller');
    return principal;
  }

  /** What nobody asked for is not kept for a peer that does not read. */
  #push(text: string): void {
    if (this.#connection.bufferedBytes + text.length <= MAX_UNREAD_PUSHES) {
      this.#connection.send(text).catch(() => {});
      return;
    }
    if (!this.#hasMissed)
      this.#context.log.warn({ principal: this.#principal.id }, 'a peer that reads slowly misses pushes');
    this.#hasMissed = true;
  }

  #frames(envelope: E2AEnvelope, call: Call): AsyncIterable<E2AResponse> {
    if (envelope.method !== 'chat.resume') return this.#context.engine.handle(envelope, call);
    const { request_id: requestId, after = -1 } = envelope.params;
    if (typeof requestId !== 'string' || !Number.isSafeInteger(after) || Number(after) < -1) {
      const needs = 'params.request_id and, unless from the start, params.after, an integer from -1';
      return refusing(failure('invalid_message', {}, `chat.resume needs ${needs}.`));
    }
    return this.#resumed(envelope, { owner: call.principal.id, requestId }, Number(after));
  }

  async *#resumed(envelope: E2AEnvelope, key: RequestKey, after: number): AsyncGenerator<E2AResponse> {
    const { store, engine, ids, clock } = this.#context;
    if ((await store.requests.find(key)) === undefined)
      yield* refusing(failure('not_found', {}, 'There is no such request.'));
    let hasMore = false;
    for await (const frame of engine.runs.read(key, after, this.#connection.signal)) {
      hasMore = true;
      yield frame;
    }
    // Over HTTP an empty stream says it; here, where nothing ends, the question itself is answered.
    if (!hasMore) yield nothingMore(envelope, key.requestId, { id: ids.uuid(), now: clock.now() });
  }

  async #send(frames: AsyncIterable<E2AResponse>, envelope: E2AEnvelope): Promise<void> {
    const keepalive = this.#keepalive(envelope);
    try {
      for await (const frame of frames) {
        keepalive.sent();
        // A request that is not for a stream gets its final frame alone, now and when it is resumed.
        if (!frame.is_stream && !frame.is_final) continue;
        const text = frameText(frame);
        if (text.length > MAX_FRAME) {
          await this.#connection.send(tooLarge(frame, text.length));
          return;
        }
        await this.#connection.send(text);
      }
    } finally {
      keepalive.stop();
    }
  }

  /** A sign of life where an answer is silent: outside of the order, number -1 (proxies and clients give up on silence). */
  #keepalive(envelope: E2AEnvelope): { sent(): void; stop(): void } {
    const { clock } = this.#context;
    const over = new AbortController();
    let last = clock.elapsed();
    const beat = async () => {
      for (;;) {
        await clock.wait(Math.max(1, last + KEEPALIVE_MS - clock.elapsed()), over.signal);
        if (clock.elapsed() - last < KEEPALIVE_MS) continue;
        last = clock.elapsed();
        await this.#connection.send(JSON.stringify(encodeResponse(keepaliveFrame(envelope, clock.now()))));
      }
    };
    beat().catch(() => {});
    return {
      sent: () => {
        last = clock.elapsed();
      },
      stop: () => over.abort(),
    };
  }

  async #refuse(reason: Failure, envelope: E2AEnvelope): Promise<void> {
    const { ids, clock } = this.#context;
    const stamp = { id: ids.hex(), now: clock.now() };
    const frame = e2aDialect.fromFailure(reason, envelope, stamp);
    if (frame !== undefined) await this.#connection.send(JSON.stringify(e2aDialect.encode(frame)));
  }
}

async function* refusing(reason: Failure): AsyncGenerator<never> {
  throw new Refused(reason);
}

/** Answers a `chat.resume` after the final frame. */
function nothingMore({ request_id, method, is_stream }: E2AEnvelope, resumed: string, stamp: Stamp): E2AResponse {
  return newResponse({
    response_id: stamp.id,
    request_id,
    method,
    is_stream,
    is_final: true,
    status: 'succeeded',
    response_kind: 'e2a.complete',
    timestamp: stamp.now.toISOString(),
    body: { result: { request_id: resumed, is_final: true } },
  });
}

function keepaliveFrame({ request_id, session_id, method, channel }: E2AEnvelope, now: Date): E2AResponse {
  return newResponse({
    response_id: `${request_id}:keepalive`,
    request_id,
    session_id,
    method,
    channel,
    sequence: -1,
    response_kind: 'e2a.chunk',
    timestamp: now.toISOString(),
    is_stream: true,
    body: { delta_kind: 'custom', delta: { event_type: 'keepalive' } },
  });
}

/** In the place of a frame no peer could take; the frame itself is in the journal, and can be read over HTTP. */
function tooLarge(frame: E2AResponse, bytes: number): string {
  const message = `The frame has ${bytes} characters; a WebSocket message may have ${MAX_FRAME}.`;
  const body = {
    code: 'response_too_large',
    message,
    details: { actual_bytes: bytes, max_bytes: MAX_FRAME, sequence: frame.sequence },
  };
  return JSON.stringify(
    encodeResponse({ ...frame, response_kind: 'e2a.error', status: 'failed', is_final: true, body, projections: {} }),
  );
}

const KEEPALIVE_MS = 10_000;
/** The send buffer of a connection, in characters. */
const MAX_UNREAD_PUSHES = 1024 * 1024;
const MAX_FRAME = 6 * 1024 * 1024;

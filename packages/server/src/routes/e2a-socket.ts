import {
  type Call,
  failureOf,
  frameFrom,
  frameText,
  type Principal,
  type Reading,
  Refused,
  refuse,
} from '@dragoman/core';
import {
  type E2AEnvelope,
  type E2AResponse,
  e2aDialect,
  encodeResponse,
  type Failure,
  failure,
  type Json,
  newEnvelope,
  newResponse,
  type Outcome,
  type Stamp,
} from '@dragoman/protocols';
import { jsonLimits } from '../config/endpoint-limits.ts';
import { isFailure } from '../http/problem.ts';
import type { Connection, SocketRoute } from '../http/route.ts';
import type { E2AContext } from './e2a.ts';
import { mentionedId, readEnvelope, withRequestId } from './read-envelope.ts';
import { ReadingTurns } from './reading-turns.ts';

/**
 * E2A over a WebSocket: each message is an envelope, and its answer is frames with its `request_id`. Many requests may
 * run at once. They do not end with the connection: on a new one, `chat.resume` with `request_id` and `after` gets
 * exactly the remaining frames.
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
  readonly #turns = new ReadingTurns();
  #hasMissed = false;
  /** Consecutive messages that were not valid envelopes. */
  #unreadable = 0;

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
        // The peer is gone: the work continues without a reader.
        if (!this.#connection.signal.aborted)
          this.#context.log.error({ error: String(error) }, 'an answer could not be sent');
      });
      answers.add(answer);
      void answer.finally(() => answers.delete(answer));
      if (this.#unreadable < MOST_UNREADABLE) continue;
      this.#connection.close(1008, `${MOST_UNREADABLE} messages in a row were not envelopes`);
      break;
    }
    await Promise.all(answers);
  }

  async #answer(text: string): Promise<void> {
    const principal = this.#principal;
    const { clock, limits, reader } = this.#context;
    let json: Outcome<Json>;
    try {
      const reading = reader.read(text, { limits: jsonLimits(limits), caller: principal.id });
      json = reading instanceof Promise ? await reading : reading;
    } catch (error) {
      return this.#refuse(failureOf(error) ?? failure('internal'), newEnvelope());
    }
    const read = readEnvelope(json, { principal, now: clock.now() });
    if (isFailure(read)) {
      this.#unreadable += 1;
      if (this.#connection.signal.aborted) return;
      return this.#refuse(read, newEnvelope({ request_id: mentionedId(json) }));
    }
    this.#unreadable = 0;
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
      const beside = { received, onAccepted };
      const call: Call = { principal, signal: this.#connection.signal, log: this.#context.log, beside };
      await this.#send(envelope, call);
    } catch (error) {
      const known = failureOf(error);
      // A disconnect of the peer is not logged, because anyone could fill the log with it.
      if (known === undefined && !this.#connection.signal.aborted)
        this.#context.log.error({ request_id: requestId, error: String(error) }, 'a request failed');
      // A recorded request gets its final frame from the journal; an error frame here would be a second one.
      if (!isAccepted) await this.#refuse(known ?? failure('internal'), envelope);
    } finally {
      this.#inFlight.delete(requestId);
    }
  }

  /** The caller with its current permissions, which may change while it is connected. */
  get #principal(): Principal {
    const { principal } = this.#connection;
    if (principal === undefined) throw new Error('an agent socket was opened without a caller');
    return this.#context.engine.callers.renewed(principal);
  }

  /** Sends a frame that no request asked for. It is dropped if the peer does not read. */
  #push(text: string): void {
    if (this.#connection.bufferedBytes + text.length <= MAX_UNREAD) {
      this.#connection.send(text).catch(() => {});
      return;
    }
    if (!this.#hasMissed)
      this.#context.log.warn({ principal: this.#principal.id }, 'a peer that reads slowly misses pushes');
    this.#hasMissed = true;
  }

  async #send(envelope: E2AEnvelope, call: Call): Promise<void> {
    const keepalive = this.#keepalive(envelope);
    try {
      if (envelope.method === 'chat.resume') await this.#resume(envelope, call, keepalive);
      else {
        await this.#context.engine.limiter.lease(call.principal);
        await this.#give(this.#context.engine.handle(envelope, call), keepalive);
      }
    } finally {
      keepalive.stop();
    }
  }

  async #resume(envelope: E2AEnvelope, { principal }: Call, keepalive: Keepalive): Promise<void> {
    const { engine, ids, clock } = this.#context;
    const { request_id: requestId, after = -1 } = envelope.params;
    if (typeof requestId !== 'string' || !Number.isSafeInteger(after) || Number(after) < -1) {
      const needs = 'params.request_id and, unless from the start, params.after, an integer from -1';
      refuse('invalid_message', {}, `chat.resume needs ${needs}.`);
    }
    // The rate limits do not apply to a resume, so its reader takes one of the caller's places.
    const place = this.#connection.reserve();
    if (isFailure(place)) throw new Refused(place);
    try {
      const key = { owner: principal.id, requestId };
      const found = await engine.runs.find(key);
      if (found === undefined) refuse('not_found', {}, 'Request not found.');
      const had = await this.#give(found.read(Number(after), this.#connection.signal), keepalive);
      if (had) return;
      // A socket stays open, so the end must be sent. Over HTTP, an empty stream shows it.
      await this.#connection.send(frameText(nothingMore(envelope, requestId, { id: ids.uuid(), now: clock.now() })));
    } finally {
      place.release();
    }
  }

  /**
   * Sends all frames of an answer; returns `false` if there were none. For a peer that leaves much unread, only one of
   * its answers is read ahead; the others wait in the journal.
   */
  async #give(reading: Reading, keepalive: Keepalive): Promise<boolean> {
    for (let had = false; ; had = true) {
      await reading.ready();
      const endTurn = await this.#turns.take();
      try {
        if (this.#connection.signal.aborted) return had;
        const rows = await reading.next();
        if (rows.length === 0) return had;
        keepalive.sent();
        const tooLong = rows.findIndex(({ text }) => isTooLarge(text));
        const whole = tooLong === -1 ? rows : rows.slice(0, tooLong);
        const texts = whole.map(({ text }) => text);
        const unfit = rows[tooLong];
        if (unfit !== undefined) texts.push(tooLarge(frameFrom(unfit.text), Buffer.byteLength(unfit.text)));
        const sent = Promise.all(texts.map((text) => this.#connection.send(text)));
        if (this.#connection.bufferedBytes <= this.#room) endTurn();
        await sent;
        if (unfit !== undefined) return true;
      } finally {
        endTurn();
      }
    }
  }

  /** The unread bytes below which the next answer is read, so that the buffer of the connection does not overflow. */
  get #room(): number {
    return this.#context.limits.buffer_bytes / 2;
  }

  /** Sends a frame with sequence -1 whenever the answer is silent, because proxies and clients give up on silence. */
  #keepalive(envelope: E2AEnvelope): Keepalive {
    const { clock } = this.#context;
    const over = new AbortController();
    let last = clock.elapsed();
    const beat = async () => {
      for (;;) {
        await clock.wait(Math.max(1, last + KEEPALIVE_MS - clock.elapsed()), over.signal);
        if (clock.elapsed() - last < KEEPALIVE_MS) continue;
        last = clock.elapsed();
        // A peer with unread bytes needs no sign of life.
        if (this.#connection.bufferedBytes > 0) continue;
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

interface Keepalive {
  sent(): void;
  stop(): void;
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

/** No code unit takes more than three bytes in UTF-8, so the length alone nearly always decides. */
function isTooLarge(text: string): boolean {
  return text.length * 3 > MAX_FRAME && Buffer.byteLength(text) > MAX_FRAME;
}

/**
 * Replaces a frame that is too large for a WebSocket message. The frame itself is in the journal and can be read over
 * HTTP.
 */
function tooLarge(frame: E2AResponse, bytes: number): string {
  const message = `The frame has ${bytes} bytes; a WebSocket message may have ${MAX_FRAME}.`;
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
/** Reporting an invalid message costs more than sending it, so a peer that sends many is disconnected. */
const MOST_UNREADABLE = 1_000;
/** The send buffer of a connection, in characters. */
const MAX_UNREAD = 1024 * 1024;
const MAX_FRAME = 6 * 1024 * 1024;

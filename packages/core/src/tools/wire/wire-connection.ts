import {
  type Failure,
  failure,
  type Issue,
  type Json,
  type JsonObject,
  type Outcome,
  oneLineJson,
  parseJson,
  parseJsonBytes,
} from '@dragoman/protocols';
import {
  capabilityOf,
  failureMessage,
  HostSession,
  idOf,
  newError,
  newMessage,
  type Reaction,
  type WireMessage,
  withFields,
} from '@dragoman/protocols/a2e-wire';
import type { Cancel, Clock, Ids, Log } from '../../ports.ts';
import type { Principal } from '../../principal.ts';
import { failureOf, Refused } from '../../refused.ts';
import type { Audit } from './audit.ts';
import type { Answered, WireSession } from './plugin.ts';
import type { PluginTable } from './plugin-table.ts';
import type { WireLimits } from './wire-limits.ts';
import { WireRefused } from './wire-refused.ts';
import { WireRequest } from './wire-request.ts';

/** Where a connection's messages go: one at a time, each a line of JSON without its line break. */
export interface WireSink {
  send(text: string): void;
  /** After everything that was sent. */
  close(): void;
}

/** What a connection needs of its host. */
export interface ConnectionParts {
  readonly plugins: PluginTable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: WireLimits;
  readonly startedAt: Date;
  /** Who a token stands for. */
  readonly identify: (token: string) => Principal | undefined;
  /** Counts a request against its caller's limits, or throws. */
  readonly count: (principal: Principal) => void;
  readonly audit: Audit;
  readonly sink: WireSink;
  /** Called once, when nothing more is taken or sent. */
  readonly onClosed: (connection: WireConnection) => void;
}

/**
 * One agent's connection, whatever carries it. The rules are `HostSession`'s; this gives it the time, runs what it
 * delivers, and sends what it says.
 */
export class WireConnection {
  readonly #parts: ConnectionParts;
  readonly #session: HostSession<Principal>;
  readonly #running = new Map<string, WireRequest>();
  readonly #closed = new AbortController();
  #wireSession: WireSession | undefined;
  #cancelTick: Cancel | undefined;
  #tickAt: Date | undefined;
  #cancelWatch: Cancel | undefined;
  #heardAt: number;
  /** Of the line that is being looked at. */
  #bytes = 0;
  /** Of those that wait, by id. */
  readonly #waitingBytes = new Map<string, number>();

  constructor(parts: ConnectionParts) {
    const { clock, ids, plugins, limits, startedAt, identify } = parts;
    this.#parts = parts;
    this.#heardAt = clock.elapsed();
    this.#session = new HostSession({
      policy: {
        accept: (token) => {
          const principal = identify(token);
          return principal === undefined ? { ok: false, reason: 'auth_failed' } : { ok: true, principal };
        },
        capabilities: plugins.capabilities,
        maxParallel: limits.maxParallel,
        maxQueued: limits.maxQueued,
        handshakeSeconds: limits.handshakeMs / 1000,
        maxDrainSeconds: limits.maxDrainMs / 1000,
        startedAt,
        // An unknown type reaches a plugin that names it, and nobody else.
        catchAll: plugins.hasOwnTypes,
      },
      newId: () => ids.hex(),
      now: clock.now(),
    });
    this.#schedule();
    this.#watch();
  }

  get principal(): Principal | undefined {
    return this.#session.principal;
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** A line of a byte stream, or what is wrong with it. */
  receiveLine(line: Outcome<Uint8Array>): void {
    this.#bytes = line.ok ? line.value.length : 0;
    this.#receive(line.ok ? parseJsonBytes(line.value) : line);
  }

  /** A message of a transport that has messages of its own. */
  receiveText(text: string): void {
    this.#bytes = Buffer.byteLength(text);
    this.#receive(parseJson(text));
  }

  /** The agent says nothing more; what it asked for is still answered. */
  end(): void {
    this.drain(this.#parts.limits.drainMs);
  }

  /** Nothing new starts; what runs and waits may finish in this time. */
  drain(milliseconds: number): void {
    const isStranger = this.#session.state === 'handshake';
    this.#react(this.#session.drain(isStranger ? 0 : milliseconds / 1000, this.#parts.clock.now()));
  }

  /** The transport is gone. */
  lost(): void {
    this.#react(this.#session.disconnected());
  }

  #receive(json: Outcome<Json>): void {
    if (this.isClosed) return;
    this.#heardAt = this.#parts.clock.elapsed();
    const now = this.#parts.clock.now();
    const reaction = json.ok
      ? this.#session.receive(json.value, now)
      : this.#session.unreadable(faultOf(json.issues), now);
    const { send, deliver } = reaction;
    // Neither answered nor started: it waits, or there is nothing to do about it.
    if (json.ok && send.length === 0 && deliver.length === 0) this.#waitingBytes.set(idOf(json.value), this.#bytes);
    this.#react(reaction);
  }

  #react({ send, deliver, cancel }: Reaction): void {
    for (const message of send) this.#send(message);
    // Looked at before anything is started: its context is that of the connection as it is now.
    for (const id of cancel) this.#cancel(id);
    for (const message of deliver) this.#start(message);
    if (this.#session.state === 'closed') this.#close();
    else if (this.#session.deadline !== this.#tickAt) this.#schedule();
  }

  #start(message: WireMessage): void {
    const { clock, log, plugins, count } = this.#parts;
    const session = this.#contextOf();
    const request = new WireRequest({
      session,
      message,
      log,
      startedAt: clock.elapsed(),
      bytes: this.#bytesOf(message),
      tell: (about, { kind, data, ...more }) => {
        const event = this.#session.event(about.requestId, { ...more, kind, data }, clock.now());
        if (event !== undefined) this.#send(event);
      },
    });
    this.#running.set(request.requestId, request);
    try {
      count(session.principal);
      const answered = plugins.handle(message, request);
      if (answered instanceof Promise) {
        answered.then(
          (fields) => this.#succeed(request, fields),
          (error: unknown) => this.#fail(request, error),
        );
      } else this.#succeed(request, answered);
    } catch (error) {
      this.#fail(request, error);
    }
  }

  #bytesOf({ id = '' }: WireMessage): number {
    const bytes = this.#waitingBytes.get(id);
    if (bytes !== undefined) this.#waitingBytes.delete(id);
    return bytes ?? this.#bytes;
  }

  #succeed(request: WireRequest, fields: Answered): void {
    const type = this.#parts.plugins.answerTo(request.message.type);
    if (fields === undefined || type === undefined) {
      const text = `nothing here handles ${request.message.type}`;
      this.#fail(request, new WireRefused('unknown_type', text));
      return;
    }
    this.#answer(request, withFields(type, { ...fields, req_id: request.requestId }, this.#stamp()));
  }

  #fail(request: WireRequest, error: unknown): void {
    if (request.isAnswered) return;
    this.#answer(request, this.#errorAbout(request, error));
  }

  #answer(request: WireRequest, answer: WireMessage): void {
    if (request.isAnswered) return;
    request.isAnswered = true;
    this.#running.delete(request.requestId);
    const sent = this.#session.isRunning(request.requestId) ? this.#send(answer) : 0;
    this.#record(request, answer, sent);
    this.#react(this.#session.finished(request.requestId));
  }

  #errorAbout({ requestId, message }: WireRequest, error: unknown): WireMessage {
    const capability_name = capabilityOf(message.type);
    if (error instanceof WireRefused) {
      const { code, message: text, detail } = error;
      return newError({ code, reqId: requestId, message: text, detail, about: message.type }, this.#stamp());
    }
    const known = failureOf(error);
    if (known === undefined) this.#parts.log.error({ type: message.type, error: String(error) }, 'a request failed');
    return {
      ...failureMessage(known ?? failure('internal'), undefined, this.#stamp()),
      req_id: requestId,
      capability_name,
    };
  }

  #cancel(id: string): void {
    const request = this.#running.get(id);
    if (request === undefined) return;
    const reason = new Refused(failure('cancelled'));
    request.ending.end(reason);
    this.#fail(request, reason);
  }

  #send(message: WireMessage): number {
    const text = oneLineJson(message as JsonObject);
    this.#parts.sink.send(text);
    return text.length;
  }

  #record(request: WireRequest, answer: WireMessage, outputBytes: number): void {
    const { audit, clock, log } = this.#parts;
    const { message, session, requestId, startedAt, bytes } = request;
    const isError = answer.type === 'error';
    const result = answer['data'] as JsonObject | undefined;
    try {
      audit({
        ts: clock.now().getTime() / 1000,
        session_id: session.id,
        req_id: requestId,
        correlation_id: textOf(message['correlation_id']),
        agent_id: session.principal.id,
        type: message.type,
        name: textOf(message['tool_name'] ?? message['name']),
        success: !isError && result?.['success'] !== false && answer['success'] !== false,
        duration_ms: Math.round((clock.elapsed() - startedAt) * 1000) / 1000,
        error_code: isError ? textOf(answer['code']) : textOf(result?.['error_code']),
        input_bytes: bytes,
        output_bytes: outputBytes,
      });
    } catch (error) {
      log.warn({ error: String(error) }, 'an audit line could not be written');
    }
  }

  #contextOf(): WireSession {
    const { principal, sessionId } = this.#session;
    if (principal === undefined) throw new Error('a request was delivered before the handshake');
    this.#wireSession ??= {
      id: sessionId,
      principal,
      closed: this.#closed.signal,
      push: (type, fields) => {
        if (!this.isClosed) this.#send(withFields(type, fields, this.#stamp()));
      },
    };
    return this.#wireSession;
  }

  /** A session that waits for something has a moment at which it stops waiting. */
  #schedule(): void {
    this.#cancelTick?.();
    const { deadline } = this.#session;
    this.#tickAt = deadline;
    if (deadline === undefined) return;
    const { clock } = this.#parts;
    const left = Math.max(0, deadline.getTime() - clock.now().getTime());
    this.#cancelTick = clock.after(left, () => {
      // Never before it: a session asked too early has nothing to say, and is not asked again.
      const now = clock.now();
      this.#react(this.#session.tick(now < deadline ? deadline : now));
    });
  }

  /** A peer that is silent is asked whether it is there; one that stays silent, and has nothing running, is gone. */
  #watch(): void {
    const { clock, limits } = this.#parts;
    if (limits.idleMs === 0) return;
    this.#cancelWatch = clock.after(limits.idleMs / 2, () => {
      const silence = clock.elapsed() - this.#heardAt;
      if (silence >= limits.idleMs && this.#running.size === 0) return this.lost();
      if (silence >= limits.idleMs / 2 && this.#session.state === 'ready') {
        this.#send(newMessage('ping', {}, this.#stamp()));
      }
      this.#watch();
    });
  }

  #close(): void {
    if (this.isClosed) return;
    this.#cancelTick?.();
    this.#cancelWatch?.();
    this.#closed.abort();
    for (const request of this.#running.values()) {
      request.isAnswered = true;
      request.ending.end(new Refused(failure('cancelled', {}, 'The connection closed.')));
    }
    this.#running.clear();
    this.#waitingBytes.clear();
    this.#parts.sink.close();
    this.#parts.onClosed(this);
  }

  #stamp() {
    return { id: this.#parts.ids.hex(), now: this.#parts.clock.now() };
  }
}

/** What is wrong with a line that holds no message. */
function faultOf(issues: readonly Issue[]): Failure {
  const [first] = issues;
  const code = first?.code === 'line_too_long' || first?.code === 'not_utf8' ? first.code : 'not_json';
  return failure(code, { issues }, first?.message);
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

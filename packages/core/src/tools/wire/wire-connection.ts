import { setMaxListeners } from 'node:events';
import {
  type Failure,
  failure,
  InFlight,
  isObject,
  type Json,
  type JsonObject,
  type Outcome,
  oneLineJson,
  show,
} from '@dragoman/protocols';
import {
  type Acceptance,
  type EventGiven,
  HostSession,
  idOf,
  lookup,
  messageText,
  nearestType,
  type Reaction,
  type WireMessage,
} from '@dragoman/protocols/a2e-wire';
import type { Principal } from '../../call/principal.ts';
import { atMost } from '../../json/json-size.ts';
import type { Cancel } from '../../ports/ports.ts';
import { failureOf, Refused } from '../../refusals/refused.ts';
import { unreadable } from '../../refusals/unreadable.ts';
import { InOrder } from '../../worker-threads/in-order.ts';
import { MOST_WAITING } from './backlog.ts';
import { ConnectionAudit, GONE } from './connection-audit.ts';
import type { ConnectionParts } from './connection-parts.ts';
import { IdleWatch } from './idle-watch.ts';
import { PacedEvents } from './paced-events.ts';
import type { Answered, WireSession } from './plugin.ts';
import { requestError, wireErrorAbout } from './request-error.ts';
import { bytesPast, mostBytesIn } from './wire-limits.ts';
import { WireRefused } from './wire-refused.ts';
import { WireRequest, type WrittenAnswer } from './wire-request.ts';

/**
 * One agent's connection on any transport. `HostSession` has the rules; this class passes the time to it, runs the
 * requests that it delivers, and sends its messages.
 */
export class WireConnection {
  readonly #parts: ConnectionParts;
  readonly #session: HostSession<Principal>;
  readonly #running = new InFlight<WireRequest>();
  readonly #closed = new AbortController();
  readonly #idle: IdleWatch;
  readonly #events: PacedEvents;
  readonly #audit: ConnectionAudit;
  readonly #arrived = new InOrder();
  /** Ended requests whose answer waits behind their events. */
  #unread = 0;
  /** Delivered requests, to be started in this order. */
  readonly #next: WireMessage[] = [];
  #isStarting = false;
  #wireSession: WireSession | undefined;
  #cancelTick: Cancel | undefined;
  #tickAt: Date | undefined;

  constructor(parts: ConnectionParts) {
    const { clock, ids, plugins, limits, startedAt } = parts;
    this.#parts = parts;
    this.#audit = new ConnectionAudit(parts, () => this.#contextOf());
    this.#events = new PacedEvents({
      sink: parts.sink,
      clock,
      room: parts.backlogRoom,
      onThrough: (request) => this.#answerRead(request),
    });
    this.#session = new HostSession({
      policy: {
        accept: (token) => this.#accept(token),
        capabilities: plugins.capabilities,
        maxParallel: limits.maxParallel,
        maxQueued: limits.maxQueued,
        handshakeSeconds: limits.handshakeMs / 1000,
        maxDrainSeconds: limits.maxDrainMs / 1000,
        startedAt,
        // A type that the protocol does not define reaches a plugin that names it, or one that takes all other types.
        catchAll: plugins.ownTypes.size > 0 || plugins.restCapability !== undefined,
        catchAllCapability: plugins.restCapability,
        ownTypes: plugins.ownTypes,
      },
      newId: () => ids.hex(),
      now: clock.now(),
    });
    this.#schedule();
    this.#idle = new IdleWatch({
      clock,
      idleMs: limits.idleMs,
      isBusy: () => this.#running.size > this.#unread,
      unreadMs: () => this.#events.unreadMs,
      ask: () => {
        if (this.#session.state === 'ready') this.#say('ping', {});
      },
      onGone: () => this.lost(),
    });
  }

  get principal(): Principal | undefined {
    return this.#session.principal;
  }

  /** Whether the handshake is not complete yet. */
  get isUnproven(): boolean {
    return this.#session.state === 'handshake';
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Receives a line of a byte stream, or the issues of an invalid line and its beginning. */
  receiveLine(line: Outcome<Uint8Array>, start?: Uint8Array): void {
    if (line.ok) this.#take(line.value, line.value.length);
    else {
      this.#arrived.push(line, () => {
        this.#audit.received(0);
        this.#receive(line, start);
      });
    }
  }

  /** Receives a message of a transport that has messages, such as WebSocket. */
  receiveText(text: string): void {
    this.#take(text, Buffer.byteLength(text));
  }

  /** The agent sends nothing more; its open requests are still answered. */
  end(): void {
    this.#arrived.push(undefined, () => this.drain(this.#parts.limits.drainMs));
  }

  /** Starts nothing new; running and waiting requests may finish within this time. */
  drain(milliseconds: number): void {
    this.#react(this.#session.drain(this.isUnproven ? 0 : milliseconds / 1000, this.#parts.clock.now()));
  }

  /** Call it when the transport has closed. */
  lost(): void {
    this.#react(this.#session.disconnected());
  }

  /** If a key cannot be checked at the moment, it is neither accepted nor reported as invalid. */
  #accept(token: string): Acceptance<Principal> {
    const { identify, seat, log } = this.#parts;
    try {
      const principal = identify(token);
      if (principal === undefined) return { ok: false, reason: 'auth_failed' };
      return seat(principal) ? { ok: true, principal } : { ok: false, reason: 'busy' };
    } catch (error) {
      log.error({ error: String(error) }, 'a handshake could not be verified');
      return { ok: false, reason: 'server_error' };
    }
  }

  /**
   * Parses a message. Messages are handled in the order in which they were sent, even if a long one takes longer to
   * parse.
   */
  #take(source: Uint8Array | string, bytes: number): void {
    const { reader, jsonLimits: limits } = this.#parts;
    const json = reader.read(source, { limits, caller: this.principal?.id ?? 'wire' });
    const read = json instanceof Promise ? json.catch(refusalOf) : json;
    this.#arrived.push<Outcome<Json> | Failure>(read, (arrived) => {
      this.#audit.received(bytes);
      this.#receive(arrived, source);
    });
  }

  #receive(json: Outcome<Json> | Failure, given: Uint8Array | string = ''): void {
    if (this.isClosed) return;
    this.#idle.received();
    const now = this.#parts.clock.now();
    const isRead = 'ok' in json && json.ok;
    const refused = 'ok' in json ? !json.ok && unreadable(json.issues, json.issues[0]?.message) : json;
    const reaction = isRead
      ? this.#session.receive(json.value, now)
      : this.#session.unreadable(refused as Failure, now, startOf(given));
    if (isRead && reaction.deliver.length === 0) {
      const id = idOf(json.value);
      // The message started no request: it waits, was refused, or concerns the connection.
      if (this.#session.isWaiting(id)) this.#audit.waits(id);
      if (this.principal !== undefined) this.#audit.recordRefusal(json.value, reaction.send);
    }
    this.#react(reaction);
  }

  #react({ send, deliver, cancel, dropped }: Reaction): void {
    for (const message of send) this.#send(message);
    for (const message of dropped) this.#audit.recordDropped(message, wireErrorAbout(message.id, send));
    // Before anything is started, because a request that is answered at once can change the state of the session.
    for (const id of cancel) this.#cancel(id, wireErrorAbout(id, send));
    if (deliver.length > 0) this.#startAll(deliver);
    if (this.#session.state === 'closed') this.#close();
    else if (this.#session.deadline !== this.#tickAt) this.#schedule();
  }

  /** Starts the next request after an immediate answer, without recursion. */
  #startAll(messages: readonly WireMessage[]): void {
    this.#next.push(...messages);
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      for (let message = this.#next.shift(); message !== undefined; message = this.#next.shift()) this.#start(message);
    } finally {
      this.#isStarting = false;
    }
  }

  #start(message: WireMessage): void {
    const { log, plugins, count } = this.#parts;
    const session = this.#contextOf();
    const bytes = this.#audit.bytesOf(message);
    const startedAt = this.#audit.startedAt();
    const request = new WireRequest({ session, message, log, startedAt, bytes, emit: this.#emit });
    this.#running.add(request.requestId, request);
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

  readonly #emit = (about: WireRequest, event: EventGiven): void => {
    const text = this.#eventText(about, event);
    if (text !== undefined && !this.#events.send(about, text)) this.#overflow(about);
  };

  /** The text of a numbered event. One that is too long for readers is replaced by a warning. */
  #eventText(about: WireRequest, event: EventGiven): string | undefined {
    const { clock } = this.#parts;
    const message = this.#session.event(about.requestId, event, clock.now());
    if (message === undefined) return undefined;
    const text = oneLineJson(message as JsonObject);
    const bytes = bytesPast(text, this.#mostBytes);
    if (bytes === undefined) return text;
    const words = `An event, ${event.kind}, is left out: it has ${bytes} bytes, and a message may have ${this.#mostBytes}.`;
    const short = Object.fromEntries(Object.entries(event).filter(([, value]) => atMost(value, SHORT) < SHORT));
    const warning = { ...short, kind: 'log', data: { level: 'warn', message: words } } as const;
    return oneLineJson(this.#session.event(about.requestId, warning, clock.now()) as JsonObject);
  }

  /**
   * A request whose events are not read, or that sends too many, is ended; the other requests of the connection
   * continue.
   */
  #overflow(request: WireRequest): void {
    const words = `Too many unread events: a connection may have at most ${MOST_WAITING / MEBIBYTE} MiB, all connections together four times as much, and one caller may not use the rest alone.`;
    const reason = new Refused(failure('busy', {}, words));
    this.#events.drop(request);
    request.ending.end(reason);
    this.#fail(request, reason);
  }

  #succeed(request: WireRequest, fields: Answered): void {
    if (request.isAnswered) return;
    const { type: requestType } = request.message;
    const type = this.#parts.plugins.answerTo(requestType);
    if (fields === undefined || type === undefined) {
      this.#fail(request, this.#notHosted(requestType));
      return;
    }
    let text: string;
    try {
      if (!isObject(fields))
        throw new TypeError(
          `a plugin answered ${requestType} with an invalid value instead of fields: ${show(fields)}`,
        );
      text = messageText({ type, fields, reqId: request.requestId }, this.#stamp());
    } catch (error) {
      // The answer of a plugin cannot be written as JSON.
      this.#fail(request, error);
      return;
    }
    const bytes = bytesPast(text, this.#mostBytes);
    if (bytes !== undefined) {
      const limit = this.#mostBytes;
      const words = `The answer has ${bytes} bytes, and the limit for a message is ${limit}; request less of it.`;
      this.#fail(request, new Refused(failure('too_large', { limit }, words)));
      return;
    }
    this.#answerInTurn(request, { type, fields, text });
  }

  /**
   * The error for a type without a plugin. It suggests the hosted types of the same namespace for a type of the
   * protocol, otherwise the nearest type.
   */
  #notHosted(type: string): WireRefused {
    const { plugins } = this.#parts;
    const text = `${type} is not supported by this host`;
    const isLeftOut = lookup(type) !== undefined && plugins.answerTo(type) === undefined;
    const hosted = isLeftOut ? plugins.hostedBeside(type) : [];
    if (hosted.length > 0) {
      return new WireRefused('unknown_type', `${text}; it answers ${hosted.join(', ')}`, { hosted });
    }
    const close = nearestType(type, plugins.ownTypes.keys());
    return new WireRefused(
      'unknown_type',
      text,
      close === undefined ? {} : { suggestions: [`did you mean ${close}?`] },
    );
  }

  get #mostBytes(): number {
    return mostBytesIn(this.#parts.limits);
  }

  #fail(request: WireRequest, error: unknown): void {
    if (request.isAnswered) return;
    const fields = requestError(request, error, { log: this.#parts.log, stamp: this.#stamp() });
    this.#answerInTurn(request, { type: 'error', fields, text: oneLineJson(fields) });
  }

  /** Sends an answer after the request's events, however long the peer takes to read them. */
  #answerInTurn(request: WireRequest, answer: WrittenAnswer): void {
    if (!this.#events.isWaiting(request)) {
      this.#answer(request, answer);
      return;
    }
    request.isAnswered = true;
    request.answer = answer;
    this.#unread += 1;
  }

  /** Sends the answer of a request whose events were read, if the answer is known. */
  #answerRead(request: WireRequest): void {
    const { answer } = request;
    if (answer === undefined) return;
    this.#unread -= 1;
    this.#answer(request, answer);
  }

  #answer(request: WireRequest, { type, fields, text }: WrittenAnswer): void {
    request.isAnswered = true;
    this.#running.remove(request.requestId);
    const isAwaited = this.#session.isRunning(request.requestId);
    if (isAwaited) this.#parts.sink.send(text);
    this.#audit.record(request, { type, fields, text: isAwaited ? text : '' });
    this.#react(this.#session.finished(request.requestId));
  }

  /** `error` is what the agent receives, if anything. */
  #cancel(id: string, error: JsonObject | undefined): void {
    const request = this.#running.get(id);
    if (request === undefined) return;
    const reason = new Refused(failure('cancelled'));
    // A durable call distinguishes the reasons: it continues if only its connection closed.
    request.ending.end(this.#session.state === 'closed' ? new Refused(GONE) : reason);
    // After a cancel, the waiting events are not sent.
    this.#events.drop(request);
    const { answer } = request;
    if (answer !== undefined) this.#unread -= 1;
    if (error !== undefined) this.#answer(request, { type: 'error', fields: error, text: oneLineJson(error) });
    else if (answer !== undefined) this.#answer(request, answer);
    else this.#fail(request, reason);
  }

  #send(message: WireMessage): void {
    this.#parts.sink.send(oneLineJson(message as JsonObject));
  }

  #say(type: string, fields: JsonObject): void {
    this.#parts.sink.send(messageText({ type, fields }, this.#stamp()));
  }

  /** Sends a message of a plugin, unless it is too large for the peer. */
  #push(type: string, fields: JsonObject): void {
    const { sink, log } = this.#parts;
    const text = messageText({ type, fields }, this.#stamp());
    const bytes = bytesPast(text, this.#mostBytes);
    if (bytes === undefined) sink.send(text);
    else log.warn({ type, bytes, limit: this.#mostBytes }, 'a message of a plugin is too large and was not sent');
  }

  #contextOf(): WireSession {
    if (this.#wireSession !== undefined) return this.#wireSession;
    const { principal, sessionId } = this.#session;
    if (principal === undefined) throw new Error('a request was delivered before the handshake');
    const { renewed } = this.#parts;
    // Plugins may add any number of listeners; Node would warn of more than ten.
    setMaxListeners(0, this.#closed.signal);
    this.#wireSession = {
      id: sessionId,
      get principal() {
        return renewed(principal);
      },
      closed: this.#closed.signal,
      push: (type, fields) => {
        if (!this.isClosed) this.#push(type, fields);
      },
    };
    return this.#wireSession;
  }

  /** Schedules the session's next deadline. */
  #schedule(): void {
    this.#cancelTick?.();
    const { deadline } = this.#session;
    this.#tickAt = deadline;
    if (deadline === undefined) return;
    const { clock } = this.#parts;
    const left = Math.max(0, deadline.getTime() - clock.now().getTime());
    this.#cancelTick = clock.after(left, () => {
      // Not earlier than the deadline: if the timer fires early, the session would find nothing due, and no new timer
      // would be set.
      const now = clock.now();
      this.#react(this.#session.tick(now < deadline ? deadline : now));
    });
  }

  #close(): void {
    if (this.isClosed) return;
    this.#cancelTick?.();
    this.#idle.stop();
    this.#closed.abort();
    const running = this.#running.entries();
    this.#running.clear();
    for (const [, request] of running) {
      request.isAnswered = true;
      request.ending.end(new Refused(GONE));
    }
    this.#next.length = 0;
    this.#audit.clear();
    this.#events.clear();
    this.#parts.sink.close();
    this.#parts.onClosed(this);
  }

  #stamp() {
    return { id: this.#parts.ids.hex(), now: this.#parts.clock.now() };
  }
}

/** The failure of a message that could not be parsed. */
function refusalOf(error: unknown): Failure {
  return failureOf(error) ?? failure('internal');
}

/** The beginning of a message, which shows the request that it belongs to. */
function startOf(given: Uint8Array | string): string {
  return typeof given === 'string' ? given.slice(0, SHORT) : Buffer.from(given.subarray(0, SHORT)).toString();
}

const MEBIBYTE = 1024 * 1024;
/** Maximum length of a field that is kept when its event is too long, and of the beginning of a line. */
const SHORT = 1024;

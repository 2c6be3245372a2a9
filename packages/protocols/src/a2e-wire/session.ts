import type { Stamp } from '../dialect.ts';
import { type Failure, failure } from '../failure.ts';
import { InFlight } from '../in-flight.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { decodeWire, idAtStart, idOf } from './decode.ts';
import type { WireErrorCode } from './errors.ts';
import { EventSequence } from './event-sequence.ts';
import { failureMessage } from './failure-message.ts';
import { grant, type HostPolicy } from './host-policy.ts';
import type { EventKind, RejectionReason } from './message.ts';
import { nearestType } from './nearest-type.ts';
import { capabilityOf, type ErrorGiven, newError, newMessage, withFields } from './new-message.ts';
import { aliasOf, isMessage, lookup, type MessageOf, maySend, type WireMessage } from './type-map.ts';

/** The actions after an event on the connection. */
export interface Reaction {
  /** Messages to the agent, in this order. */
  readonly send: readonly WireMessage[];
  /** Requests to start, in this order. Each needs one answer and then `finished`. */
  readonly deliver: readonly WireMessage[];
  /** The agent's answers to requests of the host, and its errors. */
  readonly answers: readonly WireMessage[];
  /** The ids of running requests to stop. */
  readonly cancel: readonly string[];
  /** Waiting requests that will not start; `send` has the error for those that can still receive one. */
  readonly dropped: readonly WireMessage[];
}

/**
 * The host's side of one connection: given the received messages, it decides what to send, start and stop. It has no
 * clock and no timer; call `tick` at `deadline`, and close the transport once `state` is `closed`.
 *
 *                 handshake/req accepted             shutdown, drain()
 *    ┌───────────┐ ───────────────────▶ ┌─────────┐ ──────────────────▶ ┌──────────┐
 *    │ handshake │                      │  ready  │                     │ draining │
 *    └───────────┘                      └─────────┘                     └──────────┘
 *          │ rejected · deadline                                              │ nothing left · deadline
 *          ▼                                                                  ▼
 *    ┌──────────────────────────────────────────────────────────────────────────────┐
 *    │ closed: nothing is answered any more (from anywhere, by disconnected())      │
 *    └──────────────────────────────────────────────────────────────────────────────┘
 *
 * A request goes: arrived ─▶ waiting (at most maxQueued) ─▶ running (at most maxParallel) ─▶ finished, or is refused
 * with one `error`. Requests start in order of arrival (A2E wire, Message Ordering).
 */
export class HostSession<Principal> {
  readonly #policy: HostPolicy<Principal>;
  readonly #newId: () => string;
  readonly #running = new InFlight<WireMessage>();
  readonly #waiting = new InFlight<WireMessage>();
  readonly #sequences = new EventSequence();
  #granted: ReadonlySet<string> = new Set();
  #state: 'handshake' | 'ready' | 'draining' | 'closed' = 'handshake';
  #principal: Principal | undefined;
  #sessionId = '';
  #deadline: Date | undefined;

  constructor({ policy, newId, now }: SessionGiven<Principal>) {
    this.#policy = policy;
    this.#newId = newId;
    this.#deadline = after(now, policy.handshakeSeconds ?? HANDSHAKE_SECONDS);
  }

  get state() {
    return this.#state;
  }

  /** The authenticated caller. */
  get principal(): Principal | undefined {
    return this.#principal;
  }

  /** The id that the handshake gave the session; empty before the handshake. */
  get sessionId(): string {
    return this.#sessionId;
  }

  /** When to call `tick` next. */
  get deadline(): Date | undefined {
    return this.#deadline;
  }

  isRunning(reqId: string): boolean {
    return this.#running.has(reqId);
  }

  isWaiting(reqId: string): boolean {
    return this.#waiting.has(reqId);
  }

  /** Handles one parsed message. */
  receive(json: Json, now: Date): Reaction {
    if (this.#state === 'closed') return NOTHING;
    if (this.#state === 'handshake') return this.#receiveFromUnproven(json, now);
    const outcome = decodeWire(json, now);
    return outcome.ok ? this.#dispatch(outcome.value, now) : this.#refuseInvalid(json, outcome.issues, now);
  }

  /**
   * Handles a line that is not a message: not JSON, not UTF-8, or too long. `start` is the beginning of its text, if
   * there is any.
   */
  unreadable(cause: Failure, now: Date, start = ''): Reaction {
    if (this.#state === 'closed') return NOTHING;
    const error = failureMessage(cause, undefined, this.#stamp(now));
    return sending({ ...error, req_id: this.#freeId(idAtStart(start)) });
  }

  /** Call this when a delivered request has been answered; the next waiting request may start. */
  finished(reqId: string): Reaction {
    if (this.#state === 'closed' || this.#running.remove(reqId) === undefined) return NOTHING;
    this.#sequences.forget(reqId);
    return this.#startNext();
  }

  /** A numbered event about a request; `undefined` if the request is not running. */
  event(reqId: string, { kind, data, ...more }: EventGiven, now: Date): WireMessage | undefined {
    const about = this.#state === 'closed' ? undefined : this.#running.get(reqId);
    if (about === undefined) return undefined;
    const type = lookup(about.type)?.events ?? 'invoke/event';
    const fields = { ...more, kind, data, req_id: reqId, seq: this.#sequences.next(reqId) };
    return withFields(type, fields, this.#stamp(now));
  }

  /** The host stops: running requests may finish, no new ones start. */
  drain(seconds: number, now: Date): Reaction {
    if (this.#state === 'closed') return NOTHING;
    const until = after(now, Math.min(seconds, this.#policy.maxDrainSeconds ?? DRAIN_SECONDS));
    const sooner = this.#state === 'draining' && this.#deadline !== undefined && this.#deadline < until;
    if (!sooner) this.#deadline = until;
    this.#state = 'draining';
    this.#closeIfIdle();
    return NOTHING;
  }

  /** Handles the passing of time. At its deadline, a closing connection answers its open requests with `timeout`. */
  tick(now: Date): Reaction {
    if (this.#state === 'closed' || this.#deadline === undefined || now < this.#deadline) return NOTHING;
    const owed = [...this.#running.entries(), ...this.#waiting.entries()];
    const send = owed.map(([id, { type }]) => {
      const message = 'the connection closed before this was finished';
      return newError({ code: 'timeout', reqId: id, message, about: type }, this.#stamp(now));
    });
    return { ...NOTHING, send, ...this.#close() };
  }

  /** Call this when the transport has closed. */
  disconnected(): Reaction {
    return this.#state === 'closed' ? NOTHING : { ...NOTHING, ...this.#close() };
  }

  #handshake(request: MessageOf<'handshake/req'>, now: Date): Reaction {
    const accepted = this.#policy.accept(request.auth_token, request.agent_id);
    if (!accepted.ok) {
      return accepted.reason === 'busy' ? this.#crowded(request, now) : this.#reject(request.id, accepted.reason, now);
    }
    const capabilities = grant(request.agent_caps, this.#policy.capabilities);
    if (capabilities === undefined) return this.#reject(request.id, 'no_caps', now);
    this.#state = 'ready';
    this.#deadline = undefined;
    this.#principal = accepted.principal;
    this.#granted = new Set(capabilities.map(({ capability }) => capability));
    this.#sessionId = this.#newId();
    const fields = {
      req_id: request.id,
      session_id: this.#sessionId,
      accepted_caps: [...capabilities],
      max_parallel: this.#policy.maxParallel,
    };
    return sending(newMessage('handshake/resp', fields, this.#stamp(now)));
  }

  #reject(reqId: string, reason: RejectionReason, now: Date): Reaction {
    const answer = newMessage('handshake/resp', { req_id: reqId, ok: false, reason }, this.#stamp(now));
    this.#close();
    return sending(answer);
  }

  /** The protocol has no rejection reason for too many connections, so a retryable error is sent. */
  #crowded(request: MessageOf<'handshake/req'>, now: Date): Reaction {
    const message = 'you have reached the limit of open connections for one caller';
    this.#close();
    return this.#refuse({ code: 'busy', reqId: request.id, message, about: request.type }, now);
  }

  /** Before the handshake only a handshake is read. */
  #receiveFromUnproven(json: Json, now: Date): Reaction {
    const type = isObject(json) ? json['type'] : undefined;
    // An error is never answered with an error, otherwise two peers could exchange errors endlessly.
    if (type === 'error') return NOTHING;
    if (type !== 'handshake/req') {
      const message = 'send a handshake/req first';
      return this.#refuse({ code: 'unauthorized', reqId: idOf(json), message }, now);
    }
    const outcome = decodeWire(json, now);
    if (outcome.ok && isMessage(outcome.value, 'handshake/req')) return this.#handshake(outcome.value, now);
    const issues = outcome.ok ? [] : outcome.issues;
    const isOtherVersion = issues.some(({ code }) => code === 'version_mismatch');
    return isOtherVersion ? this.#reject(idOf(json), 'version_mismatch', now) : this.#refuseInvalid(json, issues, now);
  }

  #refuseInvalid(json: Json, issues: readonly Issue[], now: Date): Reaction {
    const given = isObject(json) && typeof json['type'] === 'string' ? json['type'] : undefined;
    if (given === 'error') return NOTHING;
    const type = given === undefined ? undefined : (aliasOf(given) ?? given);
    const capability = type === undefined ? undefined : lookup(type)?.capability;
    // A type that is not granted is refused before its fields are reported. Before the handshake nothing is granted.
    if (
      type !== undefined &&
      capability !== undefined &&
      this.#state !== 'handshake' &&
      !this.#granted.has(capability)
    ) {
      const isOther = issues.some(({ code }) => code === 'version_mismatch');
      if (!isOther) return this.#notGranted({ type, id: idOf(json) }, capability, now);
    }
    const [first, ...others] = issues;
    const message = `${first?.message ?? ''}${others.length > 0 ? ` (and ${others.length} more)` : ''}`;
    return this.#refuse(
      { code: codeFor(json, type, issues), reqId: this.#freeId(idOf(json)), message, issues, about: type },
      now,
    );
  }

  #dispatch(message: WireMessage, now: Date): Reaction {
    const row = lookup(message.type);
    if (row === undefined) return this.#unknown(message, now);
    if (!maySend('agent', row))
      return this.#misplaced(message, `${message.type} is sent by the host, not by the agent`, now);
    if (row.role === 'answer') return { ...NOTHING, answers: [message] };
    if (isMessage(message, 'ping')) {
      return this.#isInFlight(message.id) ? this.#repeated(message, now) : sending(this.#pong(message, now));
    }
    if (isMessage(message, 'shutdown')) return this.drain(message.timeout, now);
    if (isMessage(message, 'handshake/req')) return this.#misplaced(message, 'the handshake is already done', now);
    if (row.capability !== undefined && !this.#granted.has(row.capability)) {
      return this.#notGranted(message, row.capability, now);
    }
    if (isMessage(message, 'tool/cancel/req')) return this.#cancel(message, now);
    return this.#admit(message, message.id ?? '', now);
  }

  /** A2E wire, Extensibility: an unknown type goes to a catch-all handler, if there is one. */
  #unknown(message: WireMessage, now: Date): Reaction {
    const { id } = message;
    const { ownTypes, catchAllCapability } = this.#policy;
    const capability = ownTypes?.get(message.type) ?? catchAllCapability;
    if (capability !== undefined && !this.#granted.has(capability)) return this.#notGranted(message, capability, now);
    if (this.#policy.catchAll === true && id !== undefined) return this.#admit(message, id, now);
    const text = `${message.type} is not supported by this host`;
    const detail = suggesting(nearestType(message.type));
    return this.#refuse({ code: 'unknown_type', reqId: this.#freeId(id), message: text, detail }, now);
  }

  #notGranted(message: Pick<WireMessage, 'id' | 'type'>, capability: string, now: Date): Reaction {
    const text = `${message.type} requires the capability ${capability}, which the handshake did not grant`;
    // The granted capabilities, so that the agent can fall back.
    const detail = { granted: [...this.#granted] };
    return this.#refuse(
      { code: 'capability_missing', reqId: this.#freeId(message.id), message: text, about: message.type, detail },
      now,
    );
  }

  #admit(message: WireMessage, id: string, now: Date): Reaction {
    if (this.#isInFlight(id)) return this.#repeated(message, now);
    if (this.#state === 'draining') return this.#busy(message, 'the connection is closing; open another', now);
    if (this.#running.size < this.#policy.maxParallel) {
      this.#running.add(id, message);
      return { send: NONE, deliver: [message], answers: NONE, cancel: NO_IDS, dropped: NONE };
    }
    if (this.#waiting.size >= (this.#policy.maxQueued ?? MAX_QUEUED)) {
      return this.#busy(message, 'too many requests are waiting already', now);
    }
    this.#waiting.add(id, message);
    return NOTHING;
  }

  #startNext(): Reaction {
    this.#closeIfIdle();
    if (this.#waiting.size === 0) return NOTHING;
    const deliver: WireMessage[] = [];
    while (this.#waiting.size > 0 && this.#running.size < this.#policy.maxParallel) {
      const [id, message] = this.#waiting.shift() ?? [];
      if (id === undefined || message === undefined) break;
      this.#running.add(id, message);
      deliver.push(message);
    }
    return { ...NOTHING, deliver };
  }

  /** A waiting call is dropped and answered with an error; the host stops and answers a running one. */
  #cancel(request: MessageOf<'tool/cancel/req'>, now: Date): Reaction {
    const { id, target_id } = request;
    if (this.#isInFlight(id)) return this.#repeated(request, now);
    const waiting = this.#waiting.remove(target_id);
    const running = this.#running.has(target_id);
    const fields = { req_id: id, target_id, cancelled: waiting !== undefined || running };
    const answer = newMessage('tool/cancel/resp', fields, this.#stamp(now));
    if (waiting === undefined) return { ...NOTHING, send: [answer], cancel: running ? [target_id] : [] };
    const dropped = {
      ...failureMessage(failure('cancelled'), undefined, this.#stamp(now)),
      req_id: target_id,
      capability_name: capabilityOf(waiting.type),
    };
    return { ...sending(dropped, answer), dropped: [waiting] };
  }

  #pong({ id }: MessageOf<'ping'>, now: Date): WireMessage {
    const uptime = Math.max(0, now.getTime() - this.#policy.startedAt.getTime()) / 1000;
    return newMessage('pong', { req_id: id, uptime_seconds: uptime }, this.#stamp(now));
  }

  #repeated(message: Pick<WireMessage, 'id' | 'type'>, now: Date): Reaction {
    return this.#misplaced(message, `a request with the id ${message.id} is in flight already`, now);
  }

  #misplaced(message: Pick<WireMessage, 'id' | 'type'>, text: string, now: Date): Reaction {
    return this.#refuse(
      {
        code: 'invalid_message',
        reqId: this.#freeId(message.id),
        message: text,
        about: message.type,
        detail: { id: message.id ?? '' },
      },
      now,
    );
  }

  #busy({ id = '', type }: WireMessage, message: string, now: Date): Reaction {
    return this.#refuse({ code: 'busy', reqId: id, message, about: type }, now);
  }

  #refuse(given: ErrorGiven, now: Date): Reaction {
    return sending(newError(given, this.#stamp(now)));
  }

  /**
   * The id for an error; empty if a request with this id is in flight, because the error would end that request at the
   * agent.
   */
  #freeId(id: string | undefined): string {
    return id === undefined || this.#isInFlight(id) ? '' : id;
  }

  #isInFlight(id: string): boolean {
    return this.#running.has(id) || (this.#waiting.size > 0 && this.#waiting.has(id));
  }

  #closeIfIdle(): void {
    if (this.#state === 'draining' && this.#running.size === 0 && this.#waiting.size === 0) this.#close();
  }

  /** Stops running requests and drops waiting ones. */
  #close(): Pick<Reaction, 'cancel' | 'dropped'> {
    const cancel = this.#running.entries().map(([id]) => id);
    const dropped = this.#waiting.entries().map(([, message]) => message);
    this.#running.clear();
    this.#waiting.clear();
    this.#state = 'closed';
    this.#deadline = undefined;
    return { cancel, dropped };
  }

  #stamp(now: Date): Stamp {
    return { id: this.#newId(), now };
  }
}

export interface SessionGiven<Principal> {
  readonly policy: HostPolicy<Principal>;
  /** Returns 32 random hex digits, different ones each time. */
  readonly newId: () => string;
  readonly now: Date;
}

export interface EventGiven {
  readonly kind: EventKind;
  readonly data: JsonObject;
  /** Additional fields of the type, such as `node_id` of a chain event. */
  readonly [field: string]: Json;
}

/**
 * `parse_error` if the value is not an object, `schema_violation` if its type is known (A2E wire, Encoding Rules),
 * `version_mismatch` for another version, otherwise `invalid_message`.
 */
function codeFor(json: Json, type: string | undefined, issues: readonly Issue[]): WireErrorCode {
  if (!isObject(json)) return 'parse_error';
  if (issues.some(({ code }) => code === 'version_mismatch')) return 'version_mismatch';
  return type !== undefined && lookup(type) !== undefined ? 'schema_violation' : 'invalid_message';
}

function suggesting(type: string | undefined): JsonObject {
  return type === undefined ? {} : { suggestions: [`did you mean ${type}?`] };
}

function sending(...send: readonly WireMessage[]): Reaction {
  return { ...NOTHING, send };
}

function after(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000);
}

const NONE: readonly WireMessage[] = [];
const NO_IDS: readonly string[] = [];
const NOTHING: Reaction = { send: NONE, deliver: NONE, answers: NONE, cancel: NO_IDS, dropped: NONE };
const HANDSHAKE_SECONDS = 10;
const DRAIN_SECONDS = 300;
const MAX_QUEUED = 64;

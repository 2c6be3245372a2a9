import { type E2AEnvelope, type Failure, type Json, type JsonObject, reject } from '@dragoman/protocols';
import type { WebSocket } from 'ws';
import type { Call } from '../call/call.ts';
import { unlessAborted } from '../ending/until-aborted.ts';
import { connectFault } from '../gate/connect-fault.ts';
import type { OutboundHeader } from '../gate/gate.ts';
import { credentialsIn, filledHeaders } from '../gate/injection.ts';
import type { NetworkGate } from '../gate/network-gate.ts';
import { everyRedactor, ownRedactor } from '../gate/redactor.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { Backoff } from '../time/backoff.ts';
import { InOrder } from '../worker-threads/in-order.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { type Agent, type AgentPart, agentFailed } from './agent.ts';
import { EXCERPT_LENGTH, frameTooLarge, MAX_FRAME_BYTES, READ_PAST_LIMIT } from './agent-frame.ts';
import { isConnectionEvent } from './connection-event.ts';
import { credentialRefs, purposeOf, refusedRef } from './credential-refs.ts';
import { type OnPush, SharedLine } from './shared-line.ts';
import { connectionLost, socketFault } from './socket-fault.ts';

/**
 * An agent server that is dialled over WebSocket. It greets with `connection.ack`, takes envelopes as text frames and
 * answers with frames that name their request.
 *
 *   dialling ──greeted, or not within 5 s──▶ open ──lost──▶ waiting ──1, 2, 4 … 60 s, or a request──▶ dialling
 */
export class E2aWsAgent implements Agent {
  readonly id: string;
  readonly #options: E2aWsAgentOptions;
  readonly #reader: JsonReader;
  readonly #backoff = new Backoff();
  readonly #stopped = new AbortController();
  #dialling: Promise<Dialled> | undefined;
  #open: OpenSocket | undefined;

  constructor(options: E2aWsAgentOptions) {
    this.id = options.id;
    this.#options = options;
    this.#reader = options.reader ?? new JsonReader();
    this.#keepOpen().catch(() => {});
  }

  async *answer(envelope: E2AEnvelope, call: Call): AsyncGenerator<AgentPart, void, undefined> {
    const { gate, url } = this.#options;
    const notAllowed = refusedRef(envelope, { principal: call.principal, gate, url });
    if (notAllowed !== undefined) return yield { part: 'failure', failure: notAllowed };
    const dialled = await unlessAborted(this.#connected(), call.signal);
    if (!('line' in dialled)) return yield dialled;
    const filled = await this.#withSecrets(envelope, call);
    if ('code' in filled) yield { part: 'failure', failure: filled };
    else yield* dialled.line.answer(filled, call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await this.#dialling;
    await this.#open?.close();
  }

  /** Callers share the connection, so each message carries the secrets of its own caller, in `auth` of the envelope. */
  async #withSecrets(envelope: E2AEnvelope, { principal }: Call): Promise<E2AEnvelope | Failure> {
    const { credential, apiKey } = credentialRefs(envelope);
    const { auth } = envelope;
    if (auth === null || (credential === undefined && apiKey === undefined)) return envelope;
    const { gate, url } = this.#options;
    const uses = [credential, apiKey].flatMap((id) => (id === undefined ? [] : { id, place: 'header' as const }));
    const use = { url: url.href, allowList: 'allow' as const, caller: principal.id, purpose: purposeOf(envelope) };
    try {
      const fill = await gate.release(uses, use);
      const bearer = credential === undefined ? auth.bearer_token : fill({ id: credential, place: 'body' });
      const added = apiKey === undefined ? {} : { 'x-api-key': fill({ id: apiKey, place: 'body' }) };
      return {
        ...envelope,
        auth: { ...auth, bearer_token: bearer, extra_headers: { ...auth.extra_headers, ...added } },
      };
    } catch (error) {
      const refused = failureOf(error);
      if (refused === undefined) throw error;
      return refused;
    }
  }

  /** Dials again whenever the connection is lost, so that the next request finds it open. */
  async #keepOpen(): Promise<void> {
    const { clock, log } = this.#options;
    while (!this.#stopped.signal.aborted) {
      const dialled = await this.#connected();
      if ('line' in dialled) {
        this.#backoff.reset();
        await dialled.lost;
      }
      if (this.#stopped.signal.aborted) return;
      const delay = this.#backoff.next();
      const error = 'line' in dialled ? 'the connection was lost' : dialled.failure.message;
      log.warn({ agent: this.id, error, delay_ms: delay }, 'the agent is not connected; dialling again');
      await clock.wait(delay, this.#stopped.signal);
    }
  }

  /** The open connection, or a new one; concurrent requests share it. */
  #connected(): Promise<Dialled> {
    if (this.#stopped.signal.aborted) return Promise.resolve(agentFailed('The agent was stopped.'));
    if (this.#open !== undefined) return Promise.resolve(this.#open);
    this.#dialling ??= this.#dial().finally(() => {
      this.#dialling = undefined;
    });
    return this.#dialling;
  }

  async #dial(): Promise<Dialled> {
    const { url, gate, id } = this.#options;
    const { WebSocket: Socket } = await import('ws');
    const headers = await this.#headers().catch(faultOf);
    if (typeof headers === 'string') return agentFailed(`The agent cannot be reached: ${headers}.`);
    const connected = await gate
      .dial({ url: url.href, allowList: 'allow', caller: id, signal: this.#stopped.signal })
      .catch(connectFault);
    if (typeof connected === 'string') return agentFailed(`The agent cannot be reached: ${connected}.`);
    const socket = new Socket(url, {
      headers,
      createConnection: () => connected,
      origin: url.origin.replace(/^ws/, 'http'),
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: MAX_READ_BYTES,
    });
    // The greeting can arrive with the bytes that open the connection, so listeners are added before that.
    const greeting = new AbortController();
    const open = this.#attend(socket, () => greeting.abort());
    const fault = await this.#opened(socket);
    if (fault !== undefined) return agentFailed(`The agent cannot be reached: ${fault}.`);
    await this.#greeted(AbortSignal.any([greeting.signal, open.closed]));
    if (!open.closed.aborted) this.#open = open;
    return open;
  }

  /** The configured headers of the request that opens the connection. */
  async #headers(): Promise<Record<string, string>> {
    const { headers = {}, gate, url, id } = this.#options;
    const uses = credentialsIn({ headers });
    const use = { url: url.href, allowList: 'allow' as const, caller: id, purpose: `agents.${id}.headers` };
    const fill = uses.length === 0 ? noSecret : await gate.release(uses, use);
    return Object.fromEntries(filledHeaders({ headers }, fill));
  }

  /** Why the socket did not open; `undefined` when it did. */
  async #opened(socket: WebSocket): Promise<string | undefined> {
    const over = new AbortController();
    const settled = new Promise<string | undefined>((resolve) => {
      socket.once('open', () => resolve(undefined));
      socket.on('error', (error) => resolve(connectFault(error)));
      const late = () => {
        resolve('it did not answer in time');
        socket.terminate();
      };
      const stop = AbortSignal.any([over.signal, this.#stopped.signal]);
      this.#options.clock.wait(DIAL_MS, stop).then(late, () => {
        if (!over.signal.aborted) late();
      });
    });
    const fault = await settled;
    over.abort();
    return fault;
  }

  /** Waits for the agent's greeting. An agent that sends none counts as ready. */
  async #greeted(greeting: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    await clock.wait(GREETING_MS, AbortSignal.any([greeting, this.#stopped.signal])).then(
      () => log.warn({ agent: this.id }, 'the agent did not greet with connection.ack; continuing without it'),
      () => {},
    );
  }

  /** Serves a connection until it is lost. */
  #attend(socket: WebSocket, onGreeting: () => void): OpenSocket {
    const { clock, ids, log, id, gate, url, onPush } = this.#options;
    const sender = {
      send: (envelope: JsonObject) => socket.send(JSON.stringify(envelope), () => {}),
      get unsentBytes() {
        return socket.bufferedAmount;
      },
    };
    const line = new SharedLine({ agentId: id, sender, clock, ids, log, onPush });
    const own = Object.values(this.#options.headers ?? {}).map(ownRedactor);
    const closed = new AbortController();
    const life = { seen: true };
    const arrived = new InOrder();
    /** Pauses reading while a frame is being parsed, or while there is no room for the next. */
    const pause = () => {
      const wait = arrived.waiting ?? line.room();
      if (wait === undefined || socket.isPaused) return;
      socket.pause();
      void wait.then(() => {
        socket.resume();
        pause();
      });
    };
    for (const sign of ['ping', 'pong']) {
      socket.on(sign, () => {
        life.seen = true;
      });
    }
    socket.on('message', (data, isBinary) => {
      life.seen = true;
      // By default, the library delivers each message as a buffer.
      const bytes = data as Buffer;
      const isTooLarge = bytes.length > MAX_FRAME_BYTES;
      const raw = (isTooLarge ? bytes.subarray(0, SEARCHED) : bytes).toString();
      const text = everyRedactor([gate.redactorFor(url), ...own])?.text(raw) ?? raw;
      const refused = isBinary ? BINARY : isTooLarge ? TOO_LARGE : undefined;
      const reading =
        refused === undefined ? this.#reader.read(text, { caller: `agent ${id}`, waits: true }) : reject<Json>(refused);
      arrived.push(reading, (frame) => {
        if (isConnectionEvent(frame)) onGreeting();
        line.receive(frame, { bytes: text.length, excerpt: frame.ok ? '' : text.slice(0, EXCERPT_LENGTH) });
      });
      pause();
    });
    let fault: string | undefined;
    socket.on('error', (error) => {
      fault = socketFault(error, MAX_READ_BYTES);
    });
    const lost = new Promise<void>((resolve) => {
      socket.once('close', () => {
        closed.abort();
        if (this.#open === open) this.#open = undefined;
        arrived.push(undefined, () => {
          line.lose(connectionLost(fault));
          resolve();
        });
      });
    });
    const close = () => {
      socket.resume();
      socket.close(1000);
      clock.wait(CLOSE_MS, closed.signal).then(
        () => socket.terminate(),
        () => {},
      );
      return lost;
    };
    const open: OpenSocket = { line, lost, closed: closed.signal, close };
    socket.once('open', () => this.#beat(socket, life, closed.signal).catch(() => {}));
    return open;
  }

  /** Closes the connection if the peer gives no sign of life from one beat to the next, even if the network reports it open. */
  async #beat(socket: WebSocket, life: { seen: boolean }, closed: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.wait(PING_MS, closed);
      // A paused socket receives no signs of life.
      if (!life.seen && !socket.isPaused) return socket.terminate();
      life.seen = false;
      socket.ping(() => {});
    }
  }
}

export interface E2aWsAgentOptions {
  readonly id: string;
  readonly url: URL;
  /** The configured headers of the request that opens the connection; names in lower case. */
  readonly headers?: Readonly<Record<string, OutboundHeader>> | undefined;
  /** The gate over which the agent's host can be reached. */
  readonly gate: NetworkGate;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onPush?: OnPush | undefined;
  readonly reader?: JsonReader | undefined;
}

interface OpenSocket {
  readonly line: SharedLine;
  /** Resolves when either side has closed the connection. */
  readonly lost: Promise<void>;
  readonly closed: AbortSignal;
  close(): Promise<void>;
}

type Dialled = OpenSocket | ReturnType<typeof agentFailed>;

function noSecret(): never {
  throw new Error('a header needs a secret that was not released');
}

/** The reason why a secret was not released. It does not contain the secret. */
function faultOf(error: unknown): string {
  return failureOf(error)?.message.replace(/\.$/, '') ?? connectFault(error);
}

const MAX_READ_BYTES = MAX_FRAME_BYTES * READ_PAST_LIMIT;
const TOO_LARGE = frameTooLarge(MAX_FRAME_BYTES);
/** The bytes of a too large frame that are searched for secrets: more than its excerpt, so that no secret is cut in two. */
const SEARCHED = 64 * 1024;
const BINARY = { pointer: '', code: 'not_text', message: 'a frame must be text; got a binary one' } as const;
const DIAL_MS = 10_000;
const GREETING_MS = 5000;
const PING_MS = 30_000;
const CLOSE_MS = 5000;

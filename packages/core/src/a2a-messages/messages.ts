import {
  type E2AEnvelope,
  type E2AResponse,
  type Failure,
  failure,
  type Issue,
  isObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  questionIn,
  type Stamp,
} from '@dragoman/protocols';
import {
  type A2AMessage,
  type AgentCard,
  a2aMessagesDialect,
  errorAbout,
  NEW_SESSION,
  questionMessage,
  type RequestMessage,
  receive,
  type Session,
} from '@dragoman/protocols/a2a-messages';
import type { AgentRegistry } from '../agent-registry/agent-registry.ts';
import type { Principal } from '../call/principal.ts';
import type { Engine } from '../engine/engine.ts';
import type { ProofFailures } from '../limits/proof-failures.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { unreadable } from '../refusals/unreadable.ts';
import type { NonceStore, RequestKey } from '../store/store.ts';
import type { JsonReader } from '../worker-threads/json-reader.ts';
import type { AgentConnections } from './agent-connections.ts';
import { announcement } from './announcement.ts';
import { collectAnswer } from './collect-answer.ts';
import type { MessageSigner } from './message-signer.ts';
import { answerEnvelope, answeredQuestion, errorAboutResponse } from './question-reply.ts';
import { type MessageRead, readMessage } from './read-message.ts';
import { RecentAnnouncements } from './recent-announcements.ts';
import type { Proof, SenderProof } from './sender-proof.ts';

export interface MessagesOptions {
  readonly engine: Engine;
  readonly registry: AgentRegistry;
  /** The connected callers, to which requests can be sent. */
  readonly connections: AgentConnections;
  readonly proof: SenderProof;
  readonly proofFailures: ProofFailures;
  readonly nonces: NonceStore;
  readonly signer: MessageSigner;
  readonly reader: JsonReader;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The card of this server. */
  readonly card: AgentCard;
  /** The limits of received messages. */
  readonly jsonLimits?: JsonLimits;
}

/** The endpoint and peer of a conversation. */
export interface MessagesEntrance {
  /** The caller that the API key proves. */
  readonly principal?: Principal | undefined;
  /** The network address of the peer; failed proofs count against it. */
  readonly address: string;
  /** The endpoint has counted the message against the caller's limits. */
  readonly counted?: boolean;
  /** The caller's idempotency key for the one request. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Whether an agent may have one more connection. Called when a signature first proves the caller. Default: it may.
   */
  readonly seat?: (principal: Principal) => boolean;
  /** For connections: sends a message that is not an answer. Absent where each message gets one answer. */
  readonly send?: (answer: MessageAnswer) => unknown;
  readonly signal: AbortSignal;
}

/** The answer to a message. */
export interface MessageAnswer {
  /** The signed message; `undefined` when there is no answer, or none can be sent. */
  readonly message?: A2AMessage;
  /** Why the message was refused. Without `message`, the endpoint reports the failure in its own format. */
  readonly failure?: Failure;
}

/** The A2A messages service: every endpoint passes received messages to it and sends its answers. */
export class Messages {
  readonly options: MessagesOptions;
  readonly #announcements = new RecentAnnouncements();

  constructor(options: MessagesOptions) {
    this.options = options;
  }

  converse(entrance: MessagesEntrance): Conversation {
    return new Conversation(this.options, entrance, this.#announcements);
  }
}

/**
 * The messages of one connection, in one session. An endpoint without connections opens a conversation for each
 * message.
 */
export class Conversation {
  readonly #options: MessagesOptions;
  readonly #entrance: MessagesEntrance;
  readonly #announcements: RecentAnnouncements;
  #session: Session = NEW_SESSION;
  /** The agent that has signed before: each connection belongs to one agent. */
  #speaker: string | undefined;
  #isTurnedAway = false;
  /** Settles when the message before has been admitted: messages are admitted in order. */
  #admitted: Promise<unknown> = Promise.resolve();

  constructor(options: MessagesOptions, entrance: MessagesEntrance, announcements: RecentAnnouncements) {
    this.#options = options;
    this.#entrance = entrance;
    this.#announcements = announcements;
    if (entrance.principal !== undefined) this.#attach(entrance.principal);
  }

  /** The peer has said goodbye, the handshake failed, or there are too many connections. */
  get isClosed(): boolean {
    return this.#isTurnedAway || this.#session.state === 'closed';
  }

  /** Whether the peer is authenticated. */
  get isProven(): boolean {
    return this.#entrance.principal !== undefined || this.#speaker !== undefined;
  }

  /** Handles a received message. Messages are admitted in the order received, and answered when the answer is ready. */
  async take(text: Uint8Array | string): Promise<MessageAnswer> {
    const { proofFailures } = this.#options;
    const limited = this.isProven ? undefined : proofFailures.refuse(this.#entrance.address);
    // A valid signature proves its sender even if others at that address fail: small signed messages are still checked.
    if (limited !== undefined && text.length > MOST_UNPROVEN) return { failure: limited };
    let about: Json = null;
    try {
      const reading = this.#read(text);
      const before = this.#admitted;
      const admitting = (async () => {
        const parsed = reading instanceof Promise ? await reading : reading;
        await before;
        if (!parsed.ok) return unreadable(parsed.issues);
        about = parsed.value.about;
        if (limited !== undefined && !(isObject(about) && isObject(about['auth']))) return limited;
        return this.#admit(parsed.value, text);
      })();
      this.#admitted = admitting.catch(() => {});
      const answer = await admitting;
      const outcome = typeof answer === 'function' ? await answer() : answer;
      if (!(outcome instanceof Object && 'fault' in outcome)) return await this.#signed(outcome);
      // The same failure for every error, so that callers cannot find out which agents exist.
      if (limited !== undefined && !this.isProven) return { failure: limited };
      return await this.#refusal(about, this.#counted(outcome));
    } catch (error) {
      const refused = failureOf(error);
      if (refused === undefined) this.#options.log.error({ error: String(error) }, 'a message could not be answered');
      return this.#refusal(about, refused ?? failure('internal'));
    }
  }

  /** Refuses a message without handling it, such as one over its caller's limits, by an `error` message. */
  async refuse(text: Uint8Array | string, refused: Failure): Promise<MessageAnswer> {
    const read = await this.#read(text);
    return this.#refusal(read.ok ? read.value.about : null, refused);
  }

  /** Unproven callers take turns by address, so that a caller cannot use up the turns of an agent it names. */
  #read(text: Uint8Array | string) {
    const { reader, clock, jsonLimits: limits } = this.#options;
    const { principal, address } = this.#entrance;
    const caller = principal?.id ?? this.#speaker ?? `address ${address}`;
    return readMessage(text, { reader, now: clock.now(), limits, caller });
  }

  /** Counts errors of unproven callers against their address, because each costs a signed answer. */
  #counted(refused: Failure): Failure {
    if (refused.fault === 'sender' && !this.isProven) this.#options.proofFailures.failed(this.#entrance.address);
    return refused;
  }

  /** Reads the message, proves its sender and updates the session. The answer may follow later. */
  async #admit(read: MessageRead, text: Uint8Array | string): Promise<Answer | (() => Promise<Answer>)> {
    const { engine, proof } = this.#options;
    const { head, signed } = read;
    if (!head.ok) return notTaken(head.issues);
    const { principal: caller } = this.#entrance;
    // With the current permissions: they may change while the connection is open.
    const proven = await proof.of(head.value, { known: caller && engine.callers.renewed(caller), signed });
    if (!('principal' in proven)) return proven;
    const { principal, nonce } = proven;
    if (nonce !== undefined && this.#speaker === undefined) {
      // Checked before the message has any effect, so that it can be sent again over another connection.
      this.#isTurnedAway ||= this.#entrance.seat?.(principal) === false;
      if (this.#isTurnedAway) return failure('busy', { retry_after: 1 }, NO_PLACE);
      this.#speaker = principal.id;
      if (caller === undefined) this.#attach(principal);
    }
    if (this.#speaker !== undefined && principal.kind === 'agent' && principal.id !== this.#speaker) {
      return failure('forbidden');
    }
    const message = await read.whole();
    const { connections, nonces } = this.#options;
    if (connections.awaits(principal.id, message)) {
      if (nonce !== undefined && (await nonces.use(nonce)) === 'reused') return failure('nonce_reused');
      connections.take(principal.id, { read, message });
      return undefined;
    }
    if (message.message_type !== 'request' && this.#entrance.counted !== true) {
      await engine.limiter.lease(principal);
      engine.limiter.request(principal);
    }
    if (message.message_type !== 'discover_agents') return this.#deliver(message, text, proven);
    let refused: Answer;
    const announced = await this.#announcements.answer(principal.id, text, async () => {
      const delivered = await this.#deliver(message, text, proven);
      const answer = typeof delivered === 'function' ? await delivered() : delivered;
      if (answer instanceof Object && 'message_type' in answer && answer.message_type === 'agent_announcement')
        return answer;
      refused = answer;
      return undefined;
    });
    return announced ?? refused;
  }

  async #deliver(
    message: A2AMessage,
    text: Uint8Array | string,
    proven: Proof,
  ): Promise<Answer | (() => Promise<Answer>)> {
    const { nonces, clock } = this.#options;
    const { nonce } = proven;
    const answered = await answeredQuestion(message, proven.principal, this.#options.engine);
    if (answered !== undefined) return () => this.#answerQuestion(answered, { message, text, proven });
    if (message.message_type !== 'request' && nonce !== undefined && (await nonces.use(nonce)) === 'reused') {
      return failure('nonce_reused');
    }
    const { session, send, verdict, issue } = receive(this.#session, message, {
      card: this.#cardOf(message.recipient_id),
      stamp: this.#stamp(),
    });
    this.#session = session;
    if (issue?.code === 'not_asked') return NO_REQUEST;
    if (verdict !== 'deliver') return send[0];
    switch (message.message_type) {
      case 'request':
        return () => this.#ask(message, text, proven);
      case 'discover_agents':
        return announcement(message, this.#options.registry, {
          stamp: this.#stamp(),
          elapsed: () => clock.elapsed(),
        });
      default:
        return NO_REQUEST;
    }
  }

  async #ask(
    message: RequestMessage,
    text: Uint8Array | string,
    { principal, nonce, fingerprint }: Proof,
  ): Promise<Answer> {
    const { engine, log, proof } = this.#options;
    const entrance = this.#entrance;
    // An A2A message answers in one piece; other readers may read the frames.
    const envelope = { ...(a2aMessagesDialect.toEnvelope(message) as E2AEnvelope), is_stream: true };
    const frames = engine.handle(envelope, {
      principal,
      // Read only if needed, because reading it creates it; a recorded request has its own signal.
      get signal() {
        return entrance.signal;
      },
      log,
      beside: {
        received: { dialect: 'a2a-messages', text },
        nonce,
        counted: entrance.counted,
        idempotencyKey: entrance.idempotencyKey,
      },
    });
    const key = { owner: principal.id, requestId: message.message_id };
    const answer = await this.#answerFrom(frames, { envelope, key });
    if (answer !== undefined && 'fault' in answer) engine.runs.cancel(key);
    // The key may have been revoked while the request ran: then the answer is not sent.
    if (fingerprint !== undefined && !proof.isGood(principal.id, fingerprint)) return failure('unauthenticated');
    return answer;
  }

  /** The answer of a request, or its question where each message gets one answer. Connections receive questions in between. */
  async #answerFrom(frames: AsyncIterable<E2AResponse>, { envelope, key }: OwnRequest): Promise<Answer> {
    const { questions } = this.#options.engine;
    const { send } = this.#entrance;
    const frame = await collectAnswer(frames, async (frame) => {
      const question = questionIn(frame);
      if (question === undefined || !(await questions.isOpen(key, question.question_id))) return false;
      if (send === undefined) return true;
      void this.#signed(questionMessage(question, envelope)).then(send, (error) => {
        this.#options.log.warn({ error: String(error) }, 'a question could not be sent');
      });
      return false;
    });
    if ('fault' in frame) return frame;
    const question = questionIn(frame);
    return question === undefined
      ? a2aMessagesDialect.fromResponse(frame, envelope)[0]
      : questionMessage(question, envelope);
  }

  /**
   * Passes an answer to its question. The answer is recorded like every request, so that a repeat gets the same reply:
   * the rest of the answer to the request that asked.
   */
  async #answerQuestion(
    params: JsonObject,
    { message, text, proven }: { message: A2AMessage; text: Uint8Array | string; proven: Proof },
  ): Promise<Answer> {
    const { engine, log } = this.#options;
    const { principal, nonce } = proven;
    const envelope = answerEnvelope(message, params);
    const { signal } = this.#entrance;
    const beside = { received: { dialect: 'a2a-messages', text }, nonce, counted: true };
    const taken = await collectAnswer(engine.handle(envelope, { principal, signal, log, beside }));
    if ('fault' in taken) return taken;
    const [reply] = a2aMessagesDialect.fromResponse(taken, envelope);
    if (reply?.message_type === 'response' && reply.payload.status === 'error')
      return errorAboutResponse(reply, this.#cardOf(message.recipient_id).agent_id);
    const key = { owner: principal.id, requestId: String(params['request_id']) };
    const run = this.#entrance.send === undefined ? await engine.runs.find(key) : undefined;
    return run && this.#answerFrom(run.read(-1), { envelope: run.envelope, key });
  }

  /** Registers the connection, so that requests can be sent to its caller. */
  #attach({ id }: Principal): void {
    const { send, signal } = this.#entrance;
    if (send !== undefined) this.#options.connections.attach(id, { send: (message) => send({ message }), signal });
  }

  async #refusal(json: Json, refused: Failure): Promise<MessageAnswer> {
    const about = errorAbout(json, refused, this.#stamp());
    // Only in the name of this server: an error in the name of a remote agent would look like that agent's own.
    const sender_id = about === undefined ? '' : this.#cardOf(about.sender_id).agent_id;
    const { message } = await this.#signed(about && { ...about, sender_id });
    return { failure: refused, ...(message !== undefined && { message }) };
  }

  async #signed(message: A2AMessage | undefined): Promise<MessageAnswer> {
    return message === undefined ? {} : { message: await this.#options.signer.sign(message) };
  }

  /** The card of the recipient, if it is an agent of this server; else the card of the server. */
  #cardOf(recipientId: string): AgentCard {
    const agent = this.#options.registry.find(recipientId);
    return agent !== undefined && agent.owner === undefined ? agent.card : this.#options.card;
  }

  #stamp(): Stamp {
    return { id: this.#options.ids.hex(), now: this.#options.clock.now() };
  }
}

function notTaken(issues: readonly Issue[]): Failure {
  const isForeign = issues.every(({ code }) => code === 'sender_mismatch');
  const isUnknown = issues.some(({ pointer, code }) => pointer === '/message_type' && code === 'enum');
  return failure(isForeign ? 'forbidden' : isUnknown ? 'unknown_type' : 'invalid_message', { issues });
}

/** A recorded request of the caller. */
interface OwnRequest {
  readonly envelope: E2AEnvelope;
  readonly key: RequestKey;
}

/** The answer, or the failure that is reported instead. */
type Answer = A2AMessage | Failure | undefined;

/** The caller or address has its maximum number of connections. */
export const NO_PLACE = 'Too many connections are open already; try again later.';
/** The longest message that is checked from an address with too many failed proofs. */
const MOST_UNPROVEN = 64 * 1024;
const NO_REQUEST = failure('not_found', {}, 'No open request of this server matches this answer.');

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
  /** The callers that are connected, so that they can be asked. */
  readonly connections: AgentConnections;
  readonly proof: SenderProof;
  readonly proofFailures: ProofFailures;
  readonly nonces: NonceStore;
  readonly signer: MessageSigner;
  readonly reader: JsonReader;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** How this server introduces itself. */
  readonly card: AgentCard;
  /** Of what comes in. */
  readonly jsonLimits?: JsonLimits;
}

/** Where a conversation comes in. */
export interface MessagesEntrance {
  /** Who the API key says. */
  readonly principal?: Principal | undefined;
  /** Where it comes from, as far as one caller can hardly leave it: what proves nobody counts for that. */
  readonly address: string;
  /** The door has counted the message against the caller's limits. */
  readonly counted?: boolean;
  /** The caller's own name for the one request that comes in here. */
  readonly idempotencyKey?: string | undefined;
  /** Asked when a signature first tells who is calling: whether that agent may have one more connection. Absent: it may. */
  readonly seat?: (principal: Principal) => boolean;
  /** Of a connection: sends what answers nothing. Absent where each message gets its one answer. */
  readonly send?: (answer: MessageAnswer) => unknown;
  readonly signal: AbortSignal;
}

/** What a message is answered with. */
export interface MessageAnswer {
  /** Signed; `undefined` when nothing is to be said, or nothing can be. */
  readonly message?: A2AMessage;
  /** Why it was refused. Without a message the door words it by itself. */
  readonly failure?: Failure;
}

/** The A2A messages service: every door gives it what came and sends what it says. */
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

/** The messages of one connection, in one session. A door without connections has one for each message. */
export class Conversation {
  readonly #options: MessagesOptions;
  readonly #entrance: MessagesEntrance;
  readonly #announcements: RecentAnnouncements;
  #session: Session = NEW_SESSION;
  /** Who has signed here before; on one connection only one agent speaks. */
  #speaker: string | undefined;
  #isTurnedAway = false;
  /** What came before is known for what it is before the next is looked at. */
  #admitted: Promise<unknown> = Promise.resolve();

  constructor(options: MessagesOptions, entrance: MessagesEntrance, announcements: RecentAnnouncements) {
    this.#options = options;
    this.#entrance = entrance;
    this.#announcements = announcements;
    if (entrance.principal !== undefined) this.#attach(entrance.principal);
  }

  /** The other side said goodbye, there is nothing to agree on, or no place for it. */
  get isClosed(): boolean {
    return this.#isTurnedAway || this.#session.state === 'closed';
  }

  /** Somebody is known to be on the other side. */
  get isProven(): boolean {
    return this.#entrance.principal !== undefined || this.#speaker !== undefined;
  }

  /** Takes what came. Messages are looked at in the order they came, and answered when there is an answer. */
  async take(text: Uint8Array | string): Promise<MessageAnswer> {
    const { proofFailures } = this.#options;
    const limited = this.isProven ? undefined : proofFailures.refuse(this.#entrance.address);
    // A valid signature proves its sender whatever others at that address send: a small signed message is still looked at.
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
      const said = typeof answer === 'function' ? await answer() : answer;
      if (!(said instanceof Object && 'fault' in said)) return await this.#signed(said);
      // In the same words whatever was wrong with it: nobody learns which agents there are.
      if (limited !== undefined && !this.isProven) return { failure: limited };
      return await this.#refusal(about, this.#counted(said));
    } catch (error) {
      const refused = failureOf(error);
      if (refused === undefined) this.#options.log.error({ error: String(error) }, 'a message could not be answered');
      return this.#refusal(about, refused ?? failure('internal'));
    }
  }

  /** Refuses a message that is not looked at further, such as one over its caller's limits, by an `error` about it. */
  async refuse(text: Uint8Array | string, refused: Failure): Promise<MessageAnswer> {
    const read = await this.#read(text);
    return this.#refusal(read.ok ? read.value.about : null, refused);
  }

  /** Callers without a proof take turns by address, so that nobody uses up the turns of an agent it names. */
  #read(text: Uint8Array | string) {
    const { reader, clock, jsonLimits: limits } = this.#options;
    const { principal, address } = this.#entrance;
    const caller = principal?.id ?? this.#speaker ?? `address ${address}`;
    return readMessage(text, { reader, now: clock.now(), limits, caller });
  }

  /** Whatever a stranger gets wrong proves nobody, and costs us an answer that is signed. */
  #counted(refused: Failure): Failure {
    if (refused.fault === 'sender' && !this.isProven) this.#options.proofFailures.failed(this.#entrance.address);
    return refused;
  }

  /** Reads the message, finds out who sent it, and what it does to the session; the answer may still take its time. */
  async #admit(read: MessageRead, text: Uint8Array | string): Promise<Answer | (() => Promise<Answer>)> {
    const { engine, proof } = this.#options;
    const { head, signed } = read;
    if (!head.ok) return notTaken(head.issues);
    const { principal: caller } = this.#entrance;
    // With what it may do now: a connection outlives changes of that.
    const proven = await proof.of(head.value, { known: caller && engine.callers.renewed(caller), signed });
    if (!('principal' in proven)) return proven;
    const { principal, nonce } = proven;
    if (nonce !== undefined && this.#speaker === undefined) {
      // Before the message does anything: it is as good as new on another connection.
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
    if (issue?.code === 'not_asked') return NOT_ASKED;
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
        return NOT_ASKED;
    }
  }

  async #ask(
    message: RequestMessage,
    text: Uint8Array | string,
    { principal, nonce, fingerprint }: Proof,
  ): Promise<Answer> {
    const { engine, log, proof } = this.#options;
    const entrance = this.#entrance;
    // A2A messages answer in one piece; others may read the frames.
    const envelope = { ...(a2aMessagesDialect.toEnvelope(message) as E2AEnvelope), is_stream: true };
    const frames = engine.handle(envelope, {
      principal,
      // Made when somebody asks for it: what is recorded has one of its own.
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
    const answer = await this.#told(frames, { envelope, key });
    if (answer !== undefined && 'fault' in answer) engine.runs.cancel(key);
    // An answer may take its time; who has lost the key meanwhile does not get it.
    if (fingerprint !== undefined && !proof.isGood(principal.id, fingerprint)) return failure('unauthenticated');
    return answer;
  }

  /** The answer of a request, or a question in it where each message gets one answer. A connection is sent its questions in between. */
  async #told(frames: AsyncIterable<E2AResponse>, { envelope, key }: OwnRequest): Promise<Answer> {
    const { questions } = this.#options.engine;
    const { send } = this.#entrance;
    const told = await collectAnswer(frames, (frame) => {
      const question = questionIn(frame);
      if (
        question === undefined ||
        !questions.of(key).some((open) => open.question.question_id === question.question_id)
      )
        return false;
      if (send === undefined) return true;
      void this.#signed(questionMessage(question, envelope)).then(send, (error) => {
        this.#options.log.warn({ error: String(error) }, 'a question could not be sent');
      });
      return false;
    });
    if ('fault' in told) return told;
    const question = questionIn(told);
    return question === undefined
      ? a2aMessagesDialect.fromResponse(told, envelope)[0]
      : questionMessage(question, envelope);
  }

  /** Recorded like every request, so that a repeat gets the same answer: what comes next in the request whose question it was. */
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
    const [told] = a2aMessagesDialect.fromResponse(taken, envelope);
    if (told?.message_type === 'response' && told.payload.status === 'error')
      return errorAboutResponse(told, this.#cardOf(message.recipient_id).agent_id);
    const key = { owner: principal.id, requestId: String(params['request_id']) };
    const run = this.#entrance.send === undefined ? await engine.runs.find(key) : undefined;
    return run && this.#told(run.read(-1), { envelope: run.envelope, key });
  }

  /** A connection is one over which its caller can be asked. */
  #attach({ id }: Principal): void {
    const { send, signal } = this.#entrance;
    if (send !== undefined) this.#options.connections.attach(id, { send: (message) => send({ message }), signal });
  }

  async #refusal(json: Json, refused: Failure): Promise<MessageAnswer> {
    const about = errorAbout(json, refused, this.#stamp());
    // Only in our own name: an error under the name of an agent elsewhere would pass for that agent's.
    const sender_id = about === undefined ? '' : this.#cardOf(about.sender_id).agent_id;
    const { message } = await this.#signed(about && { ...about, sender_id });
    return { failure: refused, ...(message !== undefined && { message }) };
  }

  async #signed(message: A2AMessage | undefined): Promise<MessageAnswer> {
    return message === undefined ? {} : { message: await this.#options.signer.sign(message) };
  }

  /** An agent of ours introduces itself; whoever else was meant, we answer for the server. */
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

/** A request of the caller's, by its record. */
interface OwnRequest {
  readonly envelope: E2AEnvelope;
  readonly key: RequestKey;
}

/** What to say, or why nothing else can be said. */
type Answer = A2AMessage | Failure | undefined;

/** There are as many connections as one caller may have, or one address. */
export const NO_PLACE = 'Too many connections are open already; try again later.';
/** Bytes or characters of a message from an address that has sent too many that prove nobody. */
const MOST_UNPROVEN = 64 * 1024;
const NOT_ASKED = failure('not_found', {}, 'No request of ours waits for this answer.');

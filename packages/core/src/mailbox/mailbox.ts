import { type E2AResponse, failure, type Issue } from '@dragoman/protocols';
import {
  completed,
  type MailboxMessage,
  type MailboxResponse,
  repliedQuestion,
  sameAgentId,
} from '@dragoman/protocols/a2a-mailbox';
import type { Beside, Call } from '../call/call.ts';
import { allows, type Principal } from '../call/principal.ts';
import type { Engine } from '../engine/engine.ts';
import type { Gate } from '../gate/gate.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import { recordedEnvelope } from '../runs/envelope-record.ts';
import type { RequestKey, Store, ThreadListView, ThreadPage, ThreadSummary } from '../store/store.ts';
import { everyHour } from '../time/every-hour.ts';
import { anonymousOwner, anonymousPrefix } from './anonymous.ts';
import type { AnonymousQuota } from './anonymous-quota.ts';
import {
  acknowledgedAt,
  acknowledgementOf,
  acknowledges,
  finalOf,
  type MailboxRequest,
  mailboxAnswerOf,
  mailboxEnvelopeOf,
  mailboxRequestOf,
  messageOf,
} from './answer.ts';
import { addressOf } from './callback-address.ts';
import type { CallbackLimits } from './callback-limits.ts';
import type { Addressed, Directory } from './directory.ts';
import { type Admitted, type LetterSettings, Letters, logUnlessRefused } from './letters.ts';
import { answerRequestIn, questionMessageIn, questionMessageOf } from './question.ts';
import { threadHistory } from './thread-history.ts';

export interface MailboxServiceOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly outbox: Outbox;
  readonly gate: Gate;
  readonly directory: Directory;
  readonly callbackLimits: CallbackLimits;
  readonly anonymousQuota: AnonymousQuota;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly settings: MailboxSettings;
}

export interface MailboxSettings extends LetterSettings {
  readonly keepThreadsMs: number;
  /** How long a message without an expiry waits for an agent that is offline. */
  readonly holdMs: number;
}

export interface Sender {
  readonly principal: Principal;
  readonly idempotencyKey?: string | undefined;
  /** The message as received. */
  readonly text?: string | Uint8Array | undefined;
  /** The `agentId` that the sender is registered with. */
  readonly agentId?: string | undefined;
}

/** A caller without a key that fetches an answer. */
export interface AnonymousReader {
  readonly addressGroup: string;
  /** The name in `from` of the message. */
  readonly from?: string | undefined;
}

/**
 * The mailbox of this server. Agents answer its messages through the engine; answers are returned at once, fetched later, or
 * sent to a callback. A message whose answer goes to a thread or a callback is a letter; any other is a plain request.
 */
export class MailboxService {
  readonly #options: MailboxServiceOptions;
  readonly #letters: Letters;
  readonly #stopped = new AbortController();

  constructor(options: MailboxServiceOptions) {
    this.#options = options;
    this.#letters = new Letters({ ...options, stopped: this.#stopped.signal });
    options.engine.channelLayers.set('a2a-mailbox', threadHistory);
  }

  /** Continues the letters of an earlier process. Call it once, when the engine and the outbox have started. */
  async start(): Promise<void> {
    await this.claim();
    const { engine, store, clock, log, settings, anonymousQuota } = this.#options;
    const purge = () => {
      const messages = engine.purgeTime.now() - settings.keepThreadsMs;
      // Counts are kept twice as long, so that an occasional reader can continue by number.
      return store.threads.purge({ messages, counts: messages - settings.keepThreadsMs });
    };
    void everyHour(purge, {
      clock,
      log,
      signal: this.#stopped.signal,
      failed: 'old threads could not be forgotten',
    });
    void everyHour(() => anonymousQuota.sweep(), {
      clock,
      log,
      signal: this.#stopped.signal,
      failed: 'old messages of senders without a key could not be removed',
    });
  }

  /** Takes over the messages of a process that has ended. */
  claim(): Promise<void> {
    return this.#letters.start();
  }

  /** Waits for the answers that are being recorded. Call it when the engine has stopped. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#letters.drain();
  }

  /** Accepts a message. Resolves with its answer, or with an acknowledgement when the answer takes too long. */
  async receive(given: MailboxMessage, sender: Sender): Promise<MailboxResponse> {
    const { clock, ids, log, directory, engine } = this.#options;
    const { principal, idempotencyKey, text } = sender;
    const named = namedBy(idempotencyKey, given);
    const whole = completed(named, { id: named.messageId === null ? ids.hex() : '', now: clock.now() });
    this.#checkIdentity(whole, sender);
    const key = { owner: principal.id, requestId: whole.messageId ?? '' };
    const hasThread = whole.metadata.threadId !== null && principal.kind !== 'anonymous';
    const isReply = whole.metadata.replyTo !== null && principal.kind !== 'anonymous';
    const { message, warnings = [] } = isReply ? await this.#withReplyTo(whole, key) : { message: whole };
    const { callbackUrl } = message.from;
    if (callbackUrl !== null) await this.#checkCallback(callbackUrl, key, principal);
    const reply = answerRequestIn(message, principal);
    const found = directory.find(message, principal);
    // The server itself takes the answer to a question.
    const addressed = reply === undefined ? found : { ...found, target: undefined };
    if (principal.kind === 'anonymous') this.#checkListed(addressed, principal);
    const isThere = reply !== undefined || engine.router.has(addressed.target ?? engine.router.defaultAgent ?? '');
    const { target, from } = isThere ? addressed : await this.#asAnswered(addressed, { ...key, idempotencyKey });
    const envelope = { ...mailboxEnvelopeOf(message, { target, from, sender: principal, warnings }), ...reply };
    const seen = principal.kind === 'anonymous' ? await this.#admitAnonymous(message, sender) : undefined;

    const call: Call = {
      principal,
      signal: this.#stopped.signal,
      log,
      beside: {
        counted: true,
        received: text === undefined ? undefined : { dialect: 'a2a-mailbox', text },
        idempotencyKey,
        holdUntil: reply === undefined ? this.#holdUntil(message, { target, principal }) : undefined,
      },
    };
    if (!hasThread && callbackUrl === null) return this.#receivePlain(message, { envelope, call, seen });
    return this.#letters.receive(message, { envelope, call, seen, hasThread });
  }

  /** Until when a message waits for an offline agent. A sender with neither a callback nor a key gets the refusal at once. */
  #holdUntil(
    { from }: MailboxMessage,
    { target, principal }: { readonly target: string | undefined; readonly principal: Principal },
  ): number | undefined {
    const { engine, clock, settings } = this.#options;
    if (from.callbackUrl === null && principal.kind === 'anonymous') return undefined;
    const agent = engine.router.find(target ?? engine.router.defaultAgent ?? '');
    return agent?.whenReachable?.() === undefined ? undefined : clock.now().getTime() + settings.holdMs;
  }

  /** Whether a message was accepted before. A repeat gets the recorded answer, however late it is. */
  async isRepeat(given: MailboxMessage, { principal, idempotencyKey }: Sender): Promise<boolean> {
    const { messageId } = namedBy(idempotencyKey, given);
    if (messageId === null) return false;
    const name = { owner: principal.id, requestId: messageId, idempotencyKey: idempotencyKey ?? null };
    return (await this.#options.store.requests.earlier(name)) !== undefined;
  }

  /** An agent that is not listed and an agent that does not exist look the same to a sender without a key. */
  #checkListed({ target }: Addressed, { permissions }: Principal): void {
    const agent = target ?? this.#options.engine.router.defaultAgent;
    if (agent === undefined || !allows(permissions.agents, agent)) refuse('unauthenticated', {}, UNLISTED);
  }

  /** Reserves space for a message without a key. Returns a counter for its answer. A repeat is not counted again. */
  async #admitAnonymous(message: MailboxMessage, sender: Sender): Promise<Admitted['seen']> {
    const { anonymousQuota: quota } = this.#options;
    if (Buffer.byteLength(JSON.stringify(message.metadata)) > MOST_METADATA) refuse('too_large', {}, LARGE_METADATA);
    if (await this.isRepeat(message, sender)) return undefined;
    await quota.admit(sender.text?.length ?? Buffer.byteLength(JSON.stringify(message)));
    const hasCallback = message.from.callbackUrl !== null;
    return (frame) => quota.count(frame, { hasCallback });
  }

  /** A repeat to an agent that no longer exists keeps its first target, which the sender must be permitted to use. */
  async #asAnswered(addressed: Addressed, { idempotencyKey = null, ...key }: Named): Promise<Addressed> {
    const earlier = await this.#options.store.requests.earlier({ ...key, idempotencyKey });
    return earlier === undefined ? addressed : { ...addressed, target: earlier.agentId };
  }

  /** Receives a message whose answer goes only to the waiting client, or is fetched later. */
  #receivePlain(message: MailboxMessage, { envelope, call, seen }: Admitted): Promise<MailboxResponse> {
    const { clock, engine, log, settings } = this.#options;
    return new Promise((resolve, reject) => {
      let request: MailboxRequest | undefined;
      let isLate = false;
      const acknowledge = () => {
        isLate = true;
        // A request is acknowledged only after it is recorded.
        if (request !== undefined) resolve(acknowledgementOf(request, message));
      };
      const onAccepted: Beside['onAccepted'] = (row, { isRepeat }) => {
        request = mailboxRequestOf(row, envelope, isRepeat);
        if (isLate) acknowledge();
      };
      const reading = engine.handle(envelope, { ...call, beside: { ...call.beside, onAccepted } });
      const cancel = clock.after(settings.answerWithinMs, acknowledge);
      const fail = (error: unknown) => {
        cancel();
        if (isLate) logUnlessRefused(error, log);
        // The next start continues a recorded request. The acknowledgement has the id for fetching the answer.
        if (request !== undefined && error instanceof Refused) acknowledge();
        reject(error);
      };
      const seeing = (frame: E2AResponse) => {
        seen?.(frame);
        const question = request === undefined || isLate ? undefined : questionMessageIn(request, frame);
        if (request === undefined || question === undefined) return undefined;
        return engine.questions.isOpen(request, question.messageId).then((isOpen) => {
          if (!isOpen) return;
          cancel();
          resolve(question);
        });
      };
      finalOf(reading, seeing)
        .then((final) => {
          cancel();
          resolve(mailboxAnswerOf(request ?? unrecorded(), final));
        })
        .catch(fail);
    });
  }

  /** The answer to an earlier message. Before there is one: the open question, else the acknowledgement. */
  async find(messageId: string, owner: string): Promise<MailboxResponse> {
    return this.#answerTo({ owner, requestId: messageId });
  }

  /**
   * Like `find`, for a sender without a key, which must fetch from the address that sent the message. Other senders may
   * share that address, so the answer omits the callback URL, and an id that several senders used is not found without
   * a name.
   */
  async findAnonymous(messageId: string, { addressGroup, from }: AnonymousReader): Promise<MailboxResponse> {
    const [key, another] =
      from === undefined
        ? await this.#options.store.threads.sentBy(anonymousPrefix(addressGroup), messageId)
        : [{ owner: anonymousOwner(addressGroup, from), requestId: messageId }];
    if (key === undefined || another !== undefined) return noMessage();
    const found = await this.#answerTo(key);
    return { ...found, to: { ...found.to, callbackUrl: null } };
  }

  /** Threads of a sender, or those addressed to an agent, in the order of their ids. */
  threads(view: ThreadListView, range: { readonly after: string; readonly limit: number }): Promise<ThreadSummary[]> {
    return this.#options.store.threads.list(view, range);
  }

  /** A thread, for its participants. For anyone else it does not exist. */
  async thread(
    threadId: string,
    principal: Principal,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<ThreadPage & { readonly isOwner: boolean }> {
    const { threads } = this.#options.store;
    for (const view of [
      { owner: principal.id, threadId },
      { agentId: principal.id, threadId },
    ]) {
      const page = await threads.page(view, { after, limit, maxBytes: PAGE_BYTES });
      const isThere = page.rows.length > 0 || (after > 0 && (await threads.page(view, FIRST)).rows.length > 0);
      if (isThere) return { ...page, isOwner: 'owner' in view };
    }
    return refuse('not_found', {}, 'Thread not found.');
  }

  async #answerTo(key: RequestKey): Promise<MailboxResponse> {
    const found = await this.#options.engine.runs.find(key);
    if (found === undefined) return noMessage();
    const { envelope, acceptedAt } = found;
    const request = { ...key, acceptedAt, envelope };
    if (found.isFinished) return mailboxAnswerOf(request, await finalOf(found.read(-1)));
    const [open] = await this.#options.engine.questions.anywhereOf(key);
    const question = open && questionMessageOf(request, open.question);
    return question ?? acknowledgementOf(request, messageOf(request));
  }

  /** The key is the identity: an `agentId` must be the sender's own, or unknown here. */
  #checkIdentity({ from }: MailboxMessage, { principal, agentId: registered }: Sender): void {
    const { agentId } = from;
    if (agentId === null) return;
    if (registered !== undefined && sameAgentId(agentId, registered)) return;
    const { engine, directory } = this.#options;
    const owner = engine.callers.list().find((one) => one.agentId !== undefined && sameAgentId(one.agentId, agentId));
    const isFree = owner === undefined || owner.agent_id === principal.id;
    if (registered === undefined && isFree && !directory.isTaken(agentId, principal.id)) return;
    refuse('forbidden', {}, 'from.agentId must be the agentId that this sender is registered with.');
  }

  /**
   * Resolves `replyTo` within the thread. An unknown id is kept, with a warning. An acknowledgement is not in the thread, and
   * stands for the message it acknowledges.
   */
  async #withReplyTo(
    message: MailboxMessage,
    key: RequestKey,
  ): Promise<{ message: MailboxMessage; warnings?: string[] }> {
    const { threadId, replyTo } = message.metadata;
    if (replyTo === null) return { message };
    if (threadId === null) {
      const warnings = [`replyTo: ${replyTo} is kept; only a message with threadId replies to another`];
      return repliedQuestion(replyTo) === undefined ? { message, warnings } : { message };
    }
    if (await this.#options.store.threads.has(key.owner, threadId, replyTo)) return { message };
    const question =
      (await this.#acknowledged(replyTo, threadId, key.owner)) ?? (await this.#earlierReply(replyTo, key));
    if (question !== undefined)
      return { message: { ...message, metadata: { ...message.metadata, replyTo: question } } };
    return { message, warnings: [`replyTo: there is no message ${replyTo} in thread ${threadId}`] };
  }

  async #acknowledged(messageId: string, threadId: string, owner: string): Promise<string | undefined> {
    const at = acknowledgedAt(messageId);
    if (at === undefined) return undefined;
    const requestIds = await this.#options.store.threads.requestIdsAt(owner, threadId, at);
    return requestIds.find((requestId) => acknowledges(messageId, { owner, requestId }));
  }

  /** The thread may have dropped the message since a repeat was first accepted, so the recorded `replyTo` counts. */
  async #earlierReply(replyTo: string, key: RequestKey): Promise<string | undefined> {
    const row = await this.#options.store.requests.find(key);
    const { correlation_id: earlier = null } = row === undefined ? {} : recordedEnvelope(row.envelope);
    if (earlier !== null && acknowledges(replyTo, { owner: key.owner, requestId: earlier })) return earlier;
    return row === undefined ? undefined : replyTo;
  }

  async #checkCallback(url: string, key: RequestKey, { kind }: Principal): Promise<void> {
    const { gate, store, outbox, callbackLimits } = this.#options;
    const { owner } = key;
    // A repeat creates no second callback.
    if ((await store.requests.find(key)) !== undefined) return;
    callbackLimits.check({ url, queued: outbox.queued(owner), isAnonymous: kind === 'anonymous' });
    if (await store.outbox.isDisabled(owner, addressOf(url))) {
      refuseField('/from/callbackUrl', 'callbackUrl is disabled: it has answered 410 Gone to this sender before');
    }
    const refused = await gate.check(url, 'callbacks');
    if (refused === undefined) return;
    // A 400 of the mailbox has one sentence for each problem, so it includes the fix.
    const { message, details } = refused;
    const reason = [message.replace(/\.$/, ''), ...(details.suggestions ?? [])].join('; ');
    refuseField('/from/callbackUrl', `callbackUrl cannot be called: ${reason}`);
  }
}

/** The error for a sender without a key that writes to an agent outside `mailbox.anonymous`. */
export const UNLISTED =
  'Authentication required. Send a key, or ask the operator to list this agent in mailbox.anonymous.';

/** The keys that identify a repeat. */
interface Named extends RequestKey {
  readonly idempotencyKey?: string | null | undefined;
}

/** A message without an id gets one from its idempotency key, so that a repeat is recognized by its id. */
function namedBy(idempotencyKey: string | undefined, message: MailboxMessage): MailboxMessage {
  if (message.messageId !== null || idempotencyKey === undefined) return message;
  return { ...message, messageId: `idem_${idempotencyKey}` };
}

function refuseField(pointer: string, message: string): never {
  const issue: Issue = { pointer, code: 'refused', message };
  throw new Refused(failure('invalid_message', { issues: [issue] }, message));
}

function noMessage(): never {
  return refuse('not_found', {}, 'Message not found.');
}

function unrecorded(): never {
  throw new Error('a message was answered before it was recorded');
}

/** The limit on the metadata of a message without a key, in bytes. */
const MOST_METADATA = 4096;
const LARGE_METADATA = `The metadata of a message without a key must not exceed ${MOST_METADATA} bytes.`;
/** The limit on one page of a thread: more than 200 questions fit in, and it can be read and sent at once. */
const PAGE_BYTES = 2 * 1024 * 1024;
/** A page that shows only whether a thread has any message. */
const FIRST = { after: 0, limit: 1, maxBytes: 0 };

import { type E2AResponse, failure, type Issue } from '@dragoman/protocols';
import { completed, type MailboxMessage, type MailboxResponse, sameAgentId } from '@dragoman/protocols/a2a-mailbox';
import type { Call } from '../call.ts';
import type { Engine } from '../engine.ts';
import type { Gate } from '../gate/gate.ts';
import { PRIORITIES } from '../layers/journal.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Clock, Ids, Log } from '../ports.ts';
import type { Principal } from '../principal.ts';
import { Refused, refuse } from '../refused.ts';
import type { Reading } from '../runs/reading.ts';
import type { NewDelivery, RequestKey, RequestRow, Store, ThreadMessage, ThreadPage } from '../store/store.ts';
import { anonymousPrefix, isAnonymous } from './anonymous.ts';
import { type Asked, acknowledgementOf, answerOf, askedIn, envelopeOf, messageOf, senderOf } from './answer.ts';
import type { CallbackLimits } from './callback-limits.ts';
import type { Directory } from './directory.ts';

export interface MailboxOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly outbox: Outbox;
  readonly gate: Gate;
  readonly directory: Directory;
  readonly callbackLimits: CallbackLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly settings: MailboxSettings;
}

export interface MailboxSettings {
  /** How long a sender without a callback waits for the answer before it gets an acknowledgement. */
  readonly answerWithinMs: number;
  /** Messages a thread keeps. */
  readonly threadMessages: number;
  readonly keepThreadsMs: number;
}

/** Who posts a message. */
export interface Sender {
  readonly principal: Principal;
  readonly idempotencyKey?: string | undefined;
  /** The message as it came. */
  readonly text?: string | Uint8Array | undefined;
  /** The `agentId` it registered with. */
  readonly agentId?: string | undefined;
}

/**
 * The mailbox of this server: messages come in, are answered by agents through the engine, and the answers go back at once,
 * later by asking, or to a callback.
 *
 *   accepted (request and letter on disk) → answered (final frame on disk) → settled (thread and outbox, one commit)
 *
 * A restart finds the letters that are not settled and goes on from wherever they are.
 */
export class Mailbox {
  readonly #options: MailboxOptions;
  readonly #following = new Set<Promise<unknown>>();
  readonly #stopped = new AbortController();

  constructor(options: MailboxOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier process left. Call it once, when the engine and the outbox have started. */
  async start(): Promise<void> {
    const { store } = this.#options;
    for (const letter of await store.threads.pending()) {
      const row = await store.requests.find(letter);
      const asked = row === undefined ? undefined : askedIn(row);
      if (asked === undefined) await store.threads.drop(letter);
      else this.#follow(this.#answer(asked, finalOf(this.#options.engine.runs.read(letter, -1)), true));
    }
    void this.#keepHouse();
  }

  /** Waits for the answers that are being put in their places. Call it when the engine has stopped. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled(this.#following);
  }

  /** Takes a message in. Resolves with its answer, or with an acknowledgement when that is not there soon enough. */
  async receive(given: MailboxMessage, sender: Sender): Promise<MailboxResponse> {
    const { clock, ids, directory, store } = this.#options;
    const { principal, idempotencyKey, text } = sender;
    const named = given.messageId === null && idempotencyKey !== undefined ? `idem_${idempotencyKey}` : given.messageId;
    const message = completed(
      { ...given, messageId: named },
      { id: named === null ? ids.hex() : '', now: clock.now() },
    );
    const { callbackUrl } = message.from;
    const { threadId, replyTo } = message.metadata;
    this.#checkIdentity(message, sender);
    const hasThread = threadId !== null && !isAnonymous(principal.id);
    if (hasThread && replyTo !== null && !(await store.threads.has(principal.id, threadId, replyTo))) {
      refuseField(
        '/metadata/replyTo',
        `replyTo must name a message of thread ${threadId}; there is no ${replyTo} in it`,
      );
    }
    if (callbackUrl !== null) await this.#checkCallback(callbackUrl, message, principal.id);
    const addressed = directory.find(message, principal);
    const envelope = envelopeOf(message, { ...addressed, source: isAnonymous(principal.id) ? null : principal.id });

    const key = { owner: principal.id, requestId: message.messageId ?? '' };
    const call: Call = {
      principal,
      signal: this.#stopped.signal,
      log: this.#options.log,
      counted: true,
      ...(text !== undefined && { received: { dialect: 'a2a-mailbox', text } }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
    if (!hasThread && callbackUrl === null) return this.#receivePlain(message, { key, envelope, call });
    const accepting = deferredRow();
    // What refuses it (no permission, no such agent) throws here, before anything is written down.
    const reading = this.#options.engine.open(envelope, { ...call, onAccepted: accepting.resolve });
    const opening = this.#open(key, message, { hasThread, envelope });
    // It is waited for once the request is accepted; until then a full disk must not count as nobody's error.
    opening.catch(() => {});
    // In the same breath as the letter, so that both are in one commit.
    const answering = this.#follow(
      this.#answered(reading, { key, envelope, accepted: accepting.row, opening, onRefused: accepting.reject }),
    );
    const row = await accepting.row;
    await opening;
    const acknowledge = () => acknowledgementOf(askedBy(row, key, envelope), message);
    return callbackUrl === null ? this.#soon(answering, acknowledge) : acknowledge();
  }

  /** One that owes its answer to nobody but who waits for it, or asks for it later. */
  #receivePlain(
    message: MailboxMessage,
    { key, envelope, call }: { key: RequestKey; envelope: Asked['envelope']; call: Call },
  ): Promise<MailboxResponse> {
    const { clock, engine, settings } = this.#options;
    return new Promise((resolve, reject) => {
      let asked: Asked | undefined;
      let isLate = false;
      const acknowledge = () => {
        isLate = true;
        // Not before it is recorded.
        if (asked !== undefined) resolve(acknowledgementOf(asked, message));
      };
      const onAccepted = (row: RequestRow) => {
        asked = askedBy(row, key, envelope);
        if (isLate) acknowledge();
      };
      const reading = engine.open(envelope, { ...call, onAccepted });
      const cancel = clock.after(settings.answerWithinMs, acknowledge);
      finalOf(reading)
        .then((final) => resolve(answerOf(asked ?? never(), final)))
        .catch((error: unknown) => {
          if (isLate) this.#tellUnlessRefused(error);
          reject(error);
        })
        .finally(cancel);
    });
  }

  /** The answer to a message sent before, or its acknowledgement while there is none. */
  async find(messageId: string, owner: string): Promise<MailboxResponse> {
    return this.#answerTo({ owner, requestId: messageId });
  }

  /** The same for a sender without a key, who has to ask from the address the message came from. */
  async findAnonymous(messageId: string, addressGroup: string): Promise<MailboxResponse> {
    const key = await this.#options.store.threads.sentBy(anonymousPrefix(addressGroup), messageId);
    return key === undefined ? noMessage() : this.#answerTo(key);
  }

  /** A thread, for who takes part in it. What is another's looks like what is not there. */
  async thread(
    threadId: string,
    principal: Principal,
    range: { readonly after: number; readonly limit: number },
  ): Promise<ThreadPage & { readonly isOwner: boolean }> {
    const { threads } = this.#options.store;
    for (const view of [
      { owner: principal.id, threadId },
      { agentId: principal.id, threadId },
    ]) {
      const begins = await threads.page(view, { after: 0, limit: 1 });
      if (begins.rows.length > 0) return { ...(await threads.page(view, range)), isOwner: 'owner' in view };
    }
    return refuse('not_found', {}, 'There is no such thread.');
  }

  async #answerTo(key: RequestKey): Promise<MailboxResponse> {
    const { store, engine } = this.#options;
    const row = await store.requests.find(key);
    const asked = row === undefined ? undefined : askedIn(row);
    if (asked === undefined) return noMessage();
    if (row?.state !== 'finished') return acknowledgementOf(asked, messageOf(asked));
    return answerOf(asked, await finalOf(engine.runs.read(key, -1)));
  }

  /** Every frame to the last, and what comes of it; tells who waits for the acceptance when there is none. */
  async #answered(
    reading: Reading,
    { key, envelope, accepted, opening, onRefused }: Answering,
  ): Promise<MailboxResponse> {
    try {
      const final = await finalOf(reading);
      const asked = askedBy(await accepted, key, envelope);
      // A repeat of another message by its idempotency key has no letter of its own.
      if ((await opening) && asked.requestId !== key.requestId) await this.#options.store.threads.drop(key);
      const owes = (await opening) && asked.requestId === key.requestId;
      return await this.#answer(asked, final, owes);
    } catch (error) {
      onRefused(error);
      if ((await opening.catch(() => false)) && !(await this.#options.store.requests.find(key))) {
        await this.#options.store.threads.drop(key);
      }
      throw error;
    }
  }

  /** The response of the final frame; with a letter, also in the thread and on its way to the callback. */
  async #answer(asked: Asked, final: E2AResponse | Promise<E2AResponse>, hasLetter: boolean): Promise<MailboxResponse> {
    const { store, outbox, settings } = this.#options;
    const response = answerOf(asked, await final);
    if (!hasLetter) return response;
    const text = JSON.stringify(response);
    const delivery = this.#deliveryOf(asked, response, text);
    const message: ThreadMessage = {
      messageId: response.messageId,
      isAnswer: true,
      text,
      at: this.#options.clock.now().getTime(),
    };
    const settled = await this.#insist(() =>
      store.threads.settle(asked, { message, delivery, keep: settings.threadMessages }),
    );
    if (settled && delivery !== null) outbox.admit({ ...delivery, attempts: 0, nextAt: delivery.createdAt });
    return response;
  }

  #deliveryOf(asked: Asked, response: MailboxResponse, body: string): NewDelivery | null {
    const { callbackUrl: url } = senderOf(asked);
    if (url === undefined) return null;
    const { priority, expires_at: expiresAt } = asked.envelope.channel_context;
    return {
      id: `cb-${this.#options.ids.hex()}`,
      owner: asked.owner,
      requestId: asked.requestId,
      messageId: response.messageId,
      url,
      body,
      priority: PRIORITIES[String(priority)] ?? 1,
      expiresAt: typeof expiresAt === 'string' ? Date.parse(expiresAt) : null,
      createdAt: this.#options.clock.now().getTime(),
    };
  }

  #open(
    key: RequestKey,
    message: MailboxMessage,
    { hasThread, envelope }: { hasThread: boolean; envelope: Asked['envelope'] },
  ): Promise<boolean> {
    const { store, clock, engine, settings } = this.#options;
    const acceptedAt = clock.now().getTime();
    const { threadId } = message.metadata;
    const letter = {
      ...key,
      agentId: engine.router.resolve(envelope),
      threadId: hasThread ? threadId : null,
      acceptedAt,
    };
    const asked: ThreadMessage = {
      messageId: key.requestId,
      isAnswer: false,
      text: JSON.stringify(message),
      at: acceptedAt,
    };
    return store.threads.open(letter, hasThread ? asked : null, settings.threadMessages);
  }

  /** The key is the identity. An `agentId` is somebody's: its agent's, or nobody's we know. */
  #checkIdentity({ from }: MailboxMessage, { principal, agentId: registered }: Sender): void {
    const { agentId } = from;
    if (agentId === null) return;
    if (registered !== undefined && sameAgentId(agentId, registered)) return;
    const owner = this.#options.engine.callers
      .list()
      .find((one) => one.agentId !== undefined && sameAgentId(one.agentId, agentId));
    if (registered === undefined && (owner === undefined || owner.agent_id === principal.id)) return;
    refuse('forbidden', {}, 'from.agentId is not the one this sender is registered with.');
  }

  async #checkCallback(url: string, message: MailboxMessage, owner: string): Promise<void> {
    const { gate, store, outbox, callbackLimits } = this.#options;
    // A repeat owes nothing new.
    if ((await store.requests.find({ owner, requestId: message.messageId ?? '' })) !== undefined) return;
    callbackLimits.check({ url, owner, queued: outbox.queued(owner), isAnonymous: isAnonymous(owner) });
    if (await store.outbox.isDisabled(owner, url)) {
      refuseField('/from/callbackUrl', 'callbackUrl is disabled: it has answered 410 Gone to this sender before');
    }
    const refused = await gate.check(url);
    if (refused !== undefined) refuseField('/from/callbackUrl', `callbackUrl cannot be called: ${refused.message}`);
  }

  /** What is owed stays owed while the disk is full: it is tried until it can be written, or the server stops. */
  async #insist<Result>(write: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (this.#stopped.signal.aborted) throw error;
        this.#options.log.warn({ error: String(error) }, 'an answer could not be put in its place yet');
        await this.#options.clock.wait(STORE_PAUSE_MS, this.#stopped.signal);
      }
    }
  }

  /** The answer when it comes in time. */
  #soon(answering: Promise<MailboxResponse>, acknowledge: () => MailboxResponse): Promise<MailboxResponse> {
    const { clock, settings } = this.#options;
    return new Promise((resolve, reject) => {
      const cancel = clock.after(settings.answerWithinMs, () => resolve(acknowledge()));
      answering.then(resolve, reject).finally(cancel);
    });
  }

  /** Work that goes on when nobody waits for it any more. */
  #follow<Result>(work: Promise<Result>): Promise<Result> {
    const followed = work
      .catch((error: unknown) => this.#tellUnlessRefused(error))
      .finally(() => this.#following.delete(followed));
    this.#following.add(followed);
    return work;
  }

  #tellUnlessRefused(error: unknown): void {
    if (error instanceof Refused) return;
    this.#options.log.error({ error: String(error) }, 'the answer to a message could not be recorded');
  }

  async #keepHouse(): Promise<void> {
    const { clock, store, log, settings } = this.#options;
    while (!this.#stopped.signal.aborted) {
      await store.threads.purge(clock.now().getTime() - settings.keepThreadsMs).catch((error: unknown) => {
        log.warn({ error: String(error) }, 'old threads could not be forgotten');
      });
      await clock.wait(ONE_HOUR, this.#stopped.signal).catch(() => {});
    }
  }
}

interface Answering {
  readonly key: RequestKey;
  readonly envelope: Asked['envelope'];
  readonly accepted: Promise<RequestRow>;
  readonly opening: Promise<boolean>;
  readonly onRefused: (error: unknown) => void;
}

async function finalOf(reading: Reading): Promise<E2AResponse> {
  return (await reading.finalFrame()) ?? noEnd();
}

function noEnd(): never {
  throw new Error('an answer ended without its final frame');
}

function deferredRow() {
  let resolve: (row: RequestRow) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const row = new Promise<RequestRow>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  // Whoever waits for it is told; nobody may be waiting yet.
  row.catch(() => {});
  return { row, resolve, reject };
}

/** What was asked, as this message has it: only a repeat by its idempotency key may be of another one. */
function askedBy(row: RequestRow, key: RequestKey, envelope: Asked['envelope']): Asked {
  if (row.requestId !== key.requestId) return askedIn(row) ?? never();
  return { ...key, acceptedAt: row.acceptedAt, envelope };
}

function refuseField(pointer: string, message: string): never {
  const issue: Issue = { pointer, code: 'refused', message };
  throw new Refused(failure('invalid_message', { issues: [issue] }, message));
}

function noMessage(): never {
  return refuse('not_found', {}, 'There is no such message.');
}

function never(): never {
  throw new Error('a message of the mailbox was recorded as something else');
}

const ONE_HOUR = 3600 * 1000;
const STORE_PAUSE_MS = 1000;

import { type E2AResponse, questionEndIn, questionIn } from '@dragoman/protocols';
import type { MailboxMessage, MailboxResponse } from '@dragoman/protocols/a2a-mailbox';
import type { Beside, Call } from '../call/call.ts';
import type { Engine } from '../engine/engine.ts';
import { priorityOf } from '../layers/journal.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import type { Reading } from '../runs/reading.ts';
import { claimAll } from '../store/held.ts';
import { type Patience, patiently } from '../store/patiently.ts';
import type { Letter, NewDelivery, NewLetter, RequestRow, Store, ThreadMessage } from '../store/store.ts';
import { isDamaged } from '../store/store-error.ts';
import {
  acknowledgementOf,
  finalOf,
  type MailboxRequest,
  mailboxAnswerOf,
  mailboxRequestIn,
  mailboxRequestOf,
  messageSenderOf,
} from './answer.ts';
import { addressOf } from './callback-address.ts';
import { questionMessageIn } from './question.ts';

export interface LettersOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly settings: LetterSettings;
  /** Aborts when the mailbox stops. */
  readonly stopped: AbortSignal;
}

export interface LetterSettings {
  /** How long a sender without a callback waits for the answer before it gets an acknowledgement. */
  readonly answerWithinMs: number;
  /** The number of messages that a thread keeps. */
  readonly threadMessages: number;
}

/** An accepted message, ready for its agent. */
export interface Admitted {
  readonly envelope: MailboxRequest['envelope'];
  readonly call: Call;
  /** Called with every frame of the answer. */
  readonly seen?: ((frame: E2AResponse) => void) | undefined;
}

/**
 * Messages whose answers go to a thread or a callback in addition to the waiting client.
 *
 *   accepted (request and letter on disk) → answered (final frame on disk) → settled (thread and outbox, one commit)
 *
 * A restart finds the letters that are not settled and continues each from its last state.
 */
export class Letters {
  readonly #options: LettersOptions;
  readonly #following = new Set<Promise<unknown>>();

  constructor(options: LettersOptions) {
    this.#options = options;
  }

  /** Continues the letters of an earlier process. */
  async start(): Promise<void> {
    const { store } = this.#options;
    const failures: unknown[] = [];
    // One that fails does not keep the others from being continued: nobody else continues what this process has claimed.
    for await (const letters of claimAll((limit) => store.threads.claim(limit), this.#patience)) {
      for (const letter of letters) {
        await this.#continue(letter)
          .catch((error) => this.#dropDamaged(letter, error))
          .catch((error) => failures.push(error));
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #continue(letter: Letter): Promise<void> {
    const { store, engine } = this.#options;
    const row = await patiently(() => store.requests.find(letter), this.#patience);
    const request = row === undefined ? undefined : mailboxRequestIn(row);
    if (request === undefined) return patiently(() => store.threads.drop(letter), this.#patience);
    const seen = (frame: E2AResponse) => this.#recordQuestion(request, frame);
    const answering = this.#answer(request, finalOf(engine.runs.read(letter, -1), seen), true);
    this.#follow(answering.catch((error) => this.#dropDamaged(letter, error)));
  }

  /** A message that cannot be read is never answered; it must not keep the others from being continued. */
  async #dropDamaged(letter: Letter, error: unknown): Promise<void> {
    const { store, log } = this.#options;
    if (!isDamaged(error)) throw error;
    const { owner, requestId } = letter;
    log.error({ owner, request_id: requestId }, 'a message was dropped as store_damaged: it cannot be read');
    await patiently(() => store.threads.drop(letter), this.#patience);
  }

  get #patience(): Patience {
    const { clock, log, stopped: signal } = this.#options;
    return { clock, log, signal, what: 'an answer' };
  }

  /** Waits for the answers that are being recorded. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#following);
  }

  /**
   * Accepts a message. A message with a callback is acknowledged as soon as it is recorded, together with its letter.
   */
  async receive(
    message: MailboxMessage,
    { envelope, call, seen, hasThread }: Admitted & { readonly hasThread: boolean },
  ): Promise<MailboxResponse> {
    const accepting = deferredAcceptance();
    const letter = this.#letterOf(message, hasThread);
    // Refusals (no permission, no such agent) throw here, before anything is recorded.
    const beside = { ...call.beside, letter, onAccepted: accepting.resolve };
    const reading = this.#options.engine.handle(envelope, { ...call, beside });
    const { acceptance: accepted, reject: onRefused } = accepting;
    let onQuestion: (question: MailboxResponse) => void = () => {};
    const question = new Promise<MailboxResponse>((resolve) => {
      onQuestion = resolve;
    });
    const answering = this.#follow(this.#answered(reading, { envelope, seen, accepted, onRefused, onQuestion }));
    const { row, isRepeat } = await accepted;
    const acknowledge = () => acknowledgementOf(mailboxRequestOf(row, envelope, isRepeat), message);
    if (message.from.callbackUrl !== null) return acknowledge();
    return this.#soon(Promise.race([answering, question]), acknowledge);
  }

  #letterOf(message: MailboxMessage, hasThread: boolean): NewLetter {
    const { threadId } = message.metadata;
    if (!hasThread || threadId === null) return NO_THREAD;
    return { thread: { threadId, text: JSON.stringify(message), keep: this.#options.settings.threadMessages } };
  }

  /** Reads the answer to its end and settles it. When the request is refused, rejects the promise of its acceptance. */
  async #answered(
    reading: Reading,
    { envelope, seen, accepted, onRefused, onQuestion }: Answering,
  ): Promise<MailboxResponse> {
    const { questions } = this.#options.engine;
    try {
      const final = await finalOf(reading, (frame) => {
        seen?.(frame);
        if (questionIn(frame) === undefined && questionEndIn(frame) === undefined) return undefined;
        return accepted.then(async ({ row, isRepeat }) => {
          const request = mailboxRequestOf(row, envelope, isRepeat);
          if (!isRepeat) await this.#recordQuestion(request, frame);
          const question = questionMessageIn(request, frame);
          // A repeat is shown the question that is open now, not one that was answered since.
          if (question !== undefined && (await questions.isOpen(request, question.messageId))) onQuestion(question);
        });
      });
      const { row, isRepeat } = await accepted;
      // The first request settles the letter; a repeat must not settle it again.
      return await this.#answer(mailboxRequestOf(row, envelope, isRepeat), final, !isRepeat);
    } catch (error) {
      onRefused(error);
      throw error;
    }
  }

  /** Adds a question to a person, or its end, to the thread and the outbox, once. Ignores every other frame. */
  async #recordQuestion(request: MailboxRequest, frame: E2AResponse): Promise<void> {
    const response = questionMessageIn(request, frame);
    if (response === undefined) return;
    const { store, outbox, clock, log, stopped, settings } = this.#options;
    const text = JSON.stringify(response);
    const { messageId } = response;
    const expiresAt = Date.parse(questionIn(frame)?.expires_at ?? '');
    const owed = this.#deliveryOf(request, response, text);
    const delivery = owed && {
      ...owed,
      id: `cb-${messageId}`,
      expiresAt: Number.isNaN(expiresAt) ? owed.expiresAt : Math.min(expiresAt, owed.expiresAt ?? expiresAt),
    };
    const message: ThreadMessage = { messageId, isAnswer: true, text, at: clock.now().getTime() };
    const add = () => store.threads.add(request, { message, delivery, keep: settings.threadMessages });
    const added = await patiently(add, { clock, log, signal: stopped, what: 'a question', isRepeatable: true });
    if (added && delivery !== null) outbox.admit({ ...delivery, attempts: 0, nextAt: delivery.createdAt });
  }

  /** The response of the final frame. With a letter, it is also added to the thread and the outbox. */
  async #answer(
    request: MailboxRequest,
    final: E2AResponse | Promise<E2AResponse>,
    hasLetter: boolean,
  ): Promise<MailboxResponse> {
    const { store, outbox, clock, log, stopped, settings } = this.#options;
    const response = mailboxAnswerOf(request, await final);
    if (!hasLetter) return response;
    const text = JSON.stringify(response);
    const delivery = this.#deliveryOf(request, response, text);
    const message: ThreadMessage = {
      messageId: response.messageId,
      isAnswer: true,
      text,
      at: clock.now().getTime(),
    };
    const settle = () => store.threads.settle(request, { message, delivery, keep: settings.threadMessages });
    // Retries while the disk is full.
    const settled = await patiently(settle, { clock, log, signal: stopped, what: 'an answer', isRepeatable: true });
    if (settled && delivery !== null) outbox.admit({ ...delivery, attempts: 0, nextAt: delivery.createdAt });
    return response;
  }

  #deliveryOf(request: MailboxRequest, response: MailboxResponse, body: string): NewDelivery | null {
    const { callbackUrl } = messageSenderOf(request);
    if (callbackUrl === undefined) return null;
    const { priority, expires_at: expiresAt } = request.envelope.channel_context;
    return {
      id: `cb-${this.#options.ids.sortable()}`,
      owner: request.owner,
      requestId: request.requestId,
      messageId: response.messageId,
      url: addressOf(callbackUrl),
      body,
      priority: priorityOf(priority),
      expiresAt: typeof expiresAt === 'string' ? Date.parse(expiresAt) : null,
      createdAt: this.#options.clock.now().getTime(),
    };
  }

  /** The answer if it arrives in time, else the acknowledgement. */
  #soon(answering: Promise<MailboxResponse>, acknowledge: () => MailboxResponse): Promise<MailboxResponse> {
    const { clock, settings } = this.#options;
    return new Promise((resolve, reject) => {
      const cancel = clock.after(settings.answerWithinMs, () => resolve(acknowledge()));
      // An accepted message that is refused now is continued at the next start.
      const fail = (error: unknown) => (error instanceof Refused ? resolve(acknowledge()) : reject(error));
      answering.then(resolve, fail).finally(cancel);
    });
  }

  /** Tracks work that continues after its client has disconnected, so that `drain` waits for it. */
  #follow<Result>(work: Promise<Result>): Promise<Result> {
    const followed = work
      .catch((error: unknown) => logUnlessRefused(error, this.#options.log))
      .finally(() => this.#following.delete(followed));
    this.#following.add(followed);
    return work;
  }
}

/**
 * Logs an error for the operator, because no client waits for the answer any more. A refusal is an answer, not an
 * error.
 */
export function logUnlessRefused(error: unknown, log: Log): void {
  if (error instanceof Refused) return;
  log.error({ error: String(error) }, 'the answer to a message could not be recorded');
}

interface Answering extends Pick<Admitted, 'envelope' | 'seen'> {
  readonly accepted: Promise<Acceptance>;
  readonly onRefused: (error: unknown) => void;
  readonly onQuestion: (question: MailboxResponse) => void;
}

interface Acceptance {
  /** The recorded request; for a repeat, the row of the first message. */
  readonly row: RequestRow;
  readonly isRepeat: boolean;
}

function deferredAcceptance() {
  let settle: (acceptance: Acceptance) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const acceptance = new Promise<Acceptance>((resolved, rejected) => {
    settle = resolved;
    reject = rejected;
  });
  // The rejection reaches every reader of the promise; without a reader, it must not end the process.
  acceptance.catch(() => {});
  const resolve: Beside['onAccepted'] = (row, { isRepeat }) => settle({ row, isRepeat });
  return { acceptance, resolve, reject };
}

const NO_THREAD: NewLetter = { thread: null };

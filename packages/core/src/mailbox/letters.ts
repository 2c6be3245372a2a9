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
import { patiently } from '../store/patiently.ts';
import type { NewDelivery, NewLetter, RequestRow, Store, ThreadMessage } from '../store/store.ts';
import {
  type AskedMessage,
  acknowledgementOf,
  askedBy,
  askedIn,
  finalOf,
  mailboxAnswerOf,
  messageSenderOf,
} from './answer.ts';
import { addressOf } from './callback-address.ts';
import { isOpen, questionMessageIn } from './question.ts';

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
  /** Messages a thread keeps. */
  readonly threadMessages: number;
}

/** A message that was let in, ready for its agent. */
export interface Admitted {
  readonly envelope: AskedMessage['envelope'];
  readonly call: Call;
  /** Called with every frame of its answer. */
  readonly seen?: ((frame: E2AResponse) => void) | undefined;
}

/**
 * Messages whose answers are owed to more than who waits for them: to a thread, or to a callback.
 *
 *   accepted (request and letter on disk) → answered (final frame on disk) → settled (thread and outbox, one commit)
 *
 * A restart finds the letters that are not settled and goes on from wherever they are.
 */
export class Letters {
  readonly #options: LettersOptions;
  readonly #following = new Set<Promise<unknown>>();

  constructor(options: LettersOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier process left. */
  async start(): Promise<void> {
    const { store, engine } = this.#options;
    for (const letter of await claimAll((limit) => store.threads.claim(limit))) {
      const row = await store.requests.find(letter);
      const asked = row === undefined ? undefined : askedIn(row);
      if (asked === undefined) await store.threads.drop(letter);
      else {
        const tell = (frame: E2AResponse) => this.#tell(asked, frame);
        this.#follow(this.#answer(asked, finalOf(engine.runs.read(letter, -1), tell), true));
      }
    }
  }

  /** Waits for the answers that are being put in their places. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#following);
  }

  /** Takes a message in. One with a callback is acknowledged as soon as it is recorded, which its letter is with it. */
  async receive(
    message: MailboxMessage,
    { envelope, call, seen, hasThread }: Admitted & { readonly hasThread: boolean },
  ): Promise<MailboxResponse> {
    const accepting = deferredAcceptance();
    const letter = this.#letterOf(message, hasThread);
    // What refuses it (no permission, no such agent) throws here, before anything is written down.
    const beside = { ...call.beside, letter, onAccepted: accepting.resolve };
    const reading = this.#options.engine.handle(envelope, { ...call, beside });
    const { acceptance: accepted, reject: onRefused } = accepting;
    let onQuestion: (question: MailboxResponse) => void = () => {};
    const question = new Promise<MailboxResponse>((resolve) => {
      onQuestion = resolve;
    });
    const answering = this.#follow(this.#answered(reading, { envelope, seen, accepted, onRefused, onQuestion }));
    const { row, isRepeat } = await accepted;
    const acknowledge = () => acknowledgementOf(askedBy(row, envelope, isRepeat), message);
    if (message.from.callbackUrl !== null) return acknowledge();
    return this.#soon(Promise.race([answering, question]), acknowledge);
  }

  #letterOf(message: MailboxMessage, hasThread: boolean): NewLetter {
    const { threadId } = message.metadata;
    if (!hasThread || threadId === null) return NO_THREAD;
    return { thread: { threadId, text: JSON.stringify(message), keep: this.#options.settings.threadMessages } };
  }

  /** Every frame to the last, and what comes of it; tells who waits for the acceptance when there is none. */
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
          const asked = askedBy(row, envelope, isRepeat);
          if (!isRepeat) await this.#tell(asked, frame);
          const told = questionMessageIn(asked, frame);
          // A repeat is shown the question that is open now, not one that was answered since.
          if (told !== undefined && isOpen(questions, asked, told.messageId)) onQuestion(told);
        });
      });
      const { row, isRepeat } = await accepted;
      // What a repeat owes was owed by the first, which sees to it.
      return await this.#answer(askedBy(row, envelope, isRepeat), final, !isRepeat);
    } catch (error) {
      onRefused(error);
      throw error;
    }
  }

  /** A question to a person, or its end: in the thread and on its way to the callback, once. Any other frame is none of that. */
  async #tell(asked: AskedMessage, frame: E2AResponse): Promise<void> {
    const response = questionMessageIn(asked, frame);
    if (response === undefined) return;
    const { store, outbox, clock, log, stopped, settings } = this.#options;
    const text = JSON.stringify(response);
    const { messageId } = response;
    const expiresAt = Date.parse(questionIn(frame)?.expires_at ?? '');
    const owed = this.#deliveryOf(asked, response, text);
    const delivery = owed && {
      ...owed,
      id: `cb-${messageId}`,
      expiresAt: Number.isNaN(expiresAt) ? owed.expiresAt : Math.min(expiresAt, owed.expiresAt ?? expiresAt),
    };
    const message: ThreadMessage = { messageId, isAnswer: true, text, at: clock.now().getTime() };
    const add = () => store.threads.add(asked, { message, delivery, keep: settings.threadMessages });
    const added = await patiently(add, { clock, log, signal: stopped, what: 'a question', isRepeatable: true });
    if (added && delivery !== null) outbox.admit({ ...delivery, attempts: 0, nextAt: delivery.createdAt });
  }

  /** The response of the final frame; with a letter, also in the thread and on its way to the callback. */
  async #answer(
    asked: AskedMessage,
    final: E2AResponse | Promise<E2AResponse>,
    hasLetter: boolean,
  ): Promise<MailboxResponse> {
    const { store, outbox, clock, log, stopped, settings } = this.#options;
    const response = mailboxAnswerOf(asked, await final);
    if (!hasLetter) return response;
    const text = JSON.stringify(response);
    const delivery = this.#deliveryOf(asked, response, text);
    const message: ThreadMessage = {
      messageId: response.messageId,
      isAnswer: true,
      text,
      at: clock.now().getTime(),
    };
    const settle = () => store.threads.settle(asked, { message, delivery, keep: settings.threadMessages });
    // What is owed stays owed while the disk is full.
    const settled = await patiently(settle, { clock, log, signal: stopped, what: 'an answer', isRepeatable: true });
    if (settled && delivery !== null) outbox.admit({ ...delivery, attempts: 0, nextAt: delivery.createdAt });
    return response;
  }

  #deliveryOf(asked: AskedMessage, response: MailboxResponse, body: string): NewDelivery | null {
    const { callbackUrl } = messageSenderOf(asked);
    if (callbackUrl === undefined) return null;
    const { priority, expires_at: expiresAt } = asked.envelope.channel_context;
    return {
      id: `cb-${this.#options.ids.sortable()}`,
      owner: asked.owner,
      requestId: asked.requestId,
      messageId: response.messageId,
      url: addressOf(callbackUrl),
      body,
      priority: priorityOf(priority),
      expiresAt: typeof expiresAt === 'string' ? Date.parse(expiresAt) : null,
      createdAt: this.#options.clock.now().getTime(),
    };
  }

  /** The answer of what was accepted, when it comes in time. */
  #soon(answering: Promise<MailboxResponse>, acknowledge: () => MailboxResponse): Promise<MailboxResponse> {
    const { clock, settings } = this.#options;
    return new Promise((resolve, reject) => {
      const cancel = clock.after(settings.answerWithinMs, () => resolve(acknowledge()));
      // Refused now, it is left to the next start.
      const fail = (error: unknown) => (error instanceof Refused ? resolve(acknowledge()) : reject(error));
      answering.then(resolve, fail).finally(cancel);
    });
  }

  /** Work that goes on when nobody waits for it any more. */
  #follow<Result>(work: Promise<Result>): Promise<Result> {
    const followed = work
      .catch((error: unknown) => tellUnlessRefused(error, this.#options.log))
      .finally(() => this.#following.delete(followed));
    this.#following.add(followed);
    return work;
  }
}

/** Told to the operator, for nobody waits for the answer any more. A refusal is an answer. */
export function tellUnlessRefused(error: unknown, log: Log): void {
  if (error instanceof Refused) return;
  log.error({ error: String(error) }, 'the answer to a message could not be recorded');
}

interface Answering extends Pick<Admitted, 'envelope' | 'seen'> {
  readonly accepted: Promise<Acceptance>;
  readonly onRefused: (error: unknown) => void;
  readonly onQuestion: (question: MailboxResponse) => void;
}

interface Acceptance {
  /** Of a repeat, that of the first. */
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
  // Whoever waits for it is told; nobody may be waiting yet.
  acceptance.catch(() => {});
  const resolve: Beside['onAccepted'] = (row, { isRepeat }) => settle({ row, isRepeat });
  return { acceptance, resolve, reject };
}

const NO_THREAD: NewLetter = { thread: null };

import {
  decodeNewQuestion,
  type E2AResponse,
  failure,
  type GivenAnswer,
  type Json,
  type NewQuestion,
  needsPerson,
  type Question,
  type QuestionAnswer,
  type QuestionEnd,
  type QuestionOption,
  questionBody,
  questionEndBody,
  rejectingOption,
} from '@dragoman/protocols';
import type { AskingOptions } from '../call/ask.ts';
import { allows, type Principal } from '../call/principal.ts';
import type { StopSignal } from '../ending/ending.ts';
import type { Cancel, Clock, Ids, Log } from '../ports/ports.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import type { RequestKey, RequestRow } from '../store/store.ts';
import { fittingAnswer } from './fitting-answer.ts';
import type { QuestionsElsewhere } from './questions-elsewhere.ts';

/** A question with the request it belongs to. */
export interface OpenQuestion {
  readonly owner: string;
  readonly requestId: string;
  /** The ids of all requests that it belongs to. */
  readonly names: readonly string[];
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly question: Question;
}

/** A question that has ended, and how. */
export interface EndedQuestion extends OpenQuestion {
  readonly end: QuestionEnd;
}

/** The caller that answers a question, and the channel. */
export interface Answerer {
  readonly principal: Principal;
  /** How the answer arrived, such as `e2a`, `acp` or `a2a-mailbox`. */
  readonly channel: string;
  /** Whether the answer is a tool call, which a model may have made by itself. */
  readonly isToolCall?: boolean | undefined;
}

/**
 * The questions that running requests have put to people. A question is open until it is answered, its time runs out,
 * or its request ends; the first answer counts. Its end is remembered as long as its request runs.
 *
 *   open ──answer──▶ answered
 *     ├──time──────▶ expired     its rejecting option, or decline
 *     └──end───────▶ withdrawn
 */
export class OpenQuestions {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #log: Log;
  readonly #known = new Map<string, KnownQuestion>();
  /** The latest ended questions, oldest first, for lists. The frames of their requests record them. */
  readonly #ended: { readonly one: EndedQuestion; readonly askers: ReadonlySet<string> }[] = [];
  readonly #listeners = new Set<QuestionListener>();
  #elsewhere: QuestionsElsewhere | undefined;

  constructor({ clock, ids, log }: { readonly clock: Clock; readonly ids: Ids; readonly log: Log }) {
    this.#clock = clock;
    this.#ids = ids;
    this.#log = log;
  }

  /**
   * Puts a question to the people who may answer for this request. Rejects when the request, or the signal, ends first.
   */
  async ask(running: AskingRun, given: NewQuestion, options: AskingOptions = {}): Promise<QuestionAnswer> {
    return this.open(running, this.made(given), options);
  }

  /** Puts an existing question, perhaps of an earlier process. Its time counts from `asked_at`. */
  async open(
    running: AskingRun,
    question: Question,
    { signal, askers = [] }: AskingOptions = {},
  ): Promise<QuestionAnswer> {
    const { owner, requestId, agentId, sessionId } = running.row;
    if (running.aborted) throw running.reason;
    signal?.throwIfAborted();
    const mine = [...this.#known.values()].filter(({ running: one }) => one === running);
    if (mine.filter(({ end }) => end === undefined).length >= MOST_OPEN || mine.length >= MOST_QUESTIONS) {
      throw new RangeError(`a request may ask ${MOST_QUESTIONS} questions, ${MOST_OPEN} at once`);
    }
    return new Promise<QuestionAnswer>((resolve, reject) => {
      const known: KnownQuestion = {
        open: { owner, requestId, names: [requestId, ...(running.names ?? [])], agentId, sessionId, question },
        askers: new Set([agentId, ...askers]),
        running,
        end: undefined,
        settle: (answer) => {
          forget();
          resolve(answer);
        },
        fail: (reason) => {
          forget();
          reject(reason);
        },
      };
      const left = Date.parse(question.expires_at) - this.#clock.now().getTime();
      const cancelTimer = this.#clock.after(Math.max(left, 0), () => this.#expire(known));
      const withdrawn = () => this.#withdraw(known, running.aborted ? running.reason : signal?.reason);
      const forget = () => {
        cancelTimer();
        running.removeEventListener('abort', withdrawn);
        signal?.removeEventListener('abort', withdrawn);
      };
      this.#known.set(question.question_id, known);
      running.onOver(() => {
        this.#withdraw(known, new Refused(failure('cancelled', {}, 'The request has ended.')));
        this.#known.delete(question.question_id);
      });
      running.addEventListener('abort', withdrawn, { once: true });
      signal?.addEventListener('abort', withdrawn, { once: true });
      // Readers receive the question only when it is on disk; until then its id is unknown to them.
      running
        .emit({ response_kind: 'acp.output_request', body: questionBody(question, sessionId) })
        .then(() => this.#report(known), known.fail);
    });
  }

  /** The open questions of a request, oldest first. */
  of({ owner, requestId }: RequestKey): readonly OpenQuestion[] {
    return this.ofOwner(owner).filter(({ names }) => names.includes(requestId));
  }

  /** The open questions of all requests of an owner, oldest first. */
  ofOwner(owner: string): readonly OpenQuestion[] {
    return this.#open().filter((open) => open.owner === owner);
  }

  /** The open questions that a caller may answer, oldest first. */
  openFor(principal: Principal): readonly OpenQuestion[] {
    return this.#open().filter((one) => this.mayAnswer(one.question.question_id, { principal, channel: '' }));
  }

  /** The latest ended questions that a caller could have answered, newest first. */
  endedFor(principal: Principal): readonly EndedQuestion[] {
    const answerer = { principal, channel: '' };
    const might = this.#ended.filter(({ one: open, askers }) => refusalOf({ open, askers }, answerer) === undefined);
    return might.map(({ one }) => one).reverse();
  }

  /** Whether this caller may answer this question over this channel. False for an unknown question. */
  mayAnswer(questionId: string, answerer: Answerer): boolean {
    const known = this.#known.get(questionId);
    return known !== undefined && refusalOf(known, answerer) === undefined;
  }

  /** Adds the questions of other nodes. */
  join(elsewhere: QuestionsElsewhere): void {
    this.#elsewhere = elsewhere;
  }

  /** The open questions of a request, on any node. */
  async anywhereOf(key: RequestKey): Promise<readonly OpenQuestion[]> {
    const here = this.of(key);
    if (here.length > 0 || this.#elsewhere === undefined) return here;
    const elsewhere = await this.#elsewhere.ofOwner(key.owner);
    return elsewhere.filter(({ names }) => names.includes(key.requestId));
  }

  /** Whether a question of a request is open, on any node. */
  async isOpen(key: RequestKey, questionId: string): Promise<boolean> {
    return (await this.anywhereOf(key)).some(({ question }) => question.question_id === questionId);
  }

  /** The open questions of all requests of an owner, on all nodes. */
  async anywhereOfOwner(owner: string): Promise<readonly OpenQuestion[]> {
    return [...this.ofOwner(owner), ...((await this.#elsewhere?.ofOwner(owner)) ?? [])];
  }

  /** The open questions on all nodes that a caller may answer, oldest first. */
  async anywhereFor(principal: Principal): Promise<readonly OpenQuestion[]> {
    const elsewhere = (await this.#elsewhere?.openFor(principal)) ?? [];
    // A question that moves to another node meanwhile is listed by both.
    const open = new Map([...elsewhere, ...this.openFor(principal)].map((one) => [one.question.question_id, one]));
    return [...open.values()].sort((a, b) => Date.parse(a.question.asked_at) - Date.parse(b.question.asked_at));
  }

  /** The latest ended questions on all nodes that a caller could have answered, newest first. */
  async anywhereEndedFor(principal: Principal): Promise<readonly EndedQuestion[]> {
    const here = this.endedFor(principal);
    if (this.#elsewhere === undefined) return here;
    const all = [...here, ...(await this.#elsewhere.endedFor(principal))];
    return all.sort((a, b) => endOf(b).localeCompare(endOf(a))).slice(0, MOST_REMEMBERED);
  }

  /** Whether this node knows the question. */
  has(questionId: string): boolean {
    return this.#known.has(questionId);
  }

  /** Calls the listener for every new question, and for every end of a question. */
  onChange(listener: QuestionListener): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Answers a question; resolves when the answer is recorded. Rejects with `Refused`: `not_found` for an unknown
   * question, including one of another caller; `conflict` for a question that has ended; `forbidden` if this caller may
   * not answer it; `invalid_message` for an answer that does not fit. Without `requestId`, the question is found by its
   * own id.
   */
  async answer(
    { questionId, requestId }: { readonly questionId: string; readonly requestId?: string | undefined },
    given: GivenAnswer,
    answerer: Answerer,
  ): Promise<QuestionAnswer> {
    const known = this.#known.get(questionId);
    const refusal = known === undefined ? undefined : refusalOf(known, answerer);
    const isOther = requestId !== undefined && known?.open.names.includes(requestId) !== true;
    if (known === undefined) {
      const taken = await this.#elsewhere?.answer({ questionId, requestId }, given, answerer);
      if (taken !== undefined) return taken;
    }
    if (known === undefined || isOther || refusal === 'not_found') {
      refuse('not_found', {}, `There is no open question ${JSON.stringify(questionId.slice(0, 100))}.`);
    }
    if (refusal !== undefined) refuse('forbidden', {}, refusal);
    if (known.end !== undefined) refuse('conflict', {}, ENDED[known.end]);
    const { principal, channel } = answerer;
    const answer = {
      ...fittingAnswer(known.open.question, given),
      by: principal.id,
      channel,
      at: this.#clock.now().toISOString(),
    };
    await this.#finish(known, 'answered', answer);
    return answer;
  }

  #open(): OpenQuestion[] {
    return [...this.#known.values()].flatMap(({ end, open }) => (end === undefined ? [open] : []));
  }

  /** Gives a question its id and times. Throws for an invalid question. */
  made(given: NewQuestion): Question {
    const decoded = decodeNewQuestion(given as unknown as Json);
    if (!decoded.ok) throw new TypeError(`call.ask: ${decoded.issues[0]?.message ?? 'the question is not valid'}`);
    const { expires_in_ms = DEFAULT_EXPIRY_MS, ...question } = decoded.value;
    const now = this.#clock.now().getTime();
    const options = question.options ?? DEFAULT_OPTIONS[question.kind];
    const missing = missingMember({ ...question, ...(options && { options }) });
    if (missing !== undefined) throw new TypeError(`call.ask: a question of kind ${question.kind} needs ${missing}`);
    return {
      question_id: `q_${this.#ids.hex()}`,
      ...question,
      ...(options !== undefined && { options }),
      asked_at: new Date(now).toISOString(),
      expires_at: new Date(now + expires_in_ms).toISOString(),
    };
  }

  #expire(known: KnownQuestion): void {
    if (known.end !== undefined) return;
    const option = rejectingOption(known.open.question);
    const choice = option === undefined ? ({ action: 'decline' } as const) : SELECTED(option.id);
    const answer = { ...choice, by: null, channel: 'expiry', at: this.#clock.now().toISOString() };
    this.#finish(known, 'expired', answer).catch((error) => {
      this.#log.warn(
        { question_id: known.open.question.question_id, error: String(error) },
        'the end of a question could not be recorded',
      );
    });
  }

  #withdraw(known: KnownQuestion, reason: unknown): void {
    if (known.end !== undefined) return;
    known.end = 'withdrawn';
    const body = questionEndBody({ question_id: known.open.question.question_id, state: 'withdrawn' });
    // Emitted before the final frame, if the request still takes frames.
    known.running.emit({ response_kind: 'e2a.chunk', body }).catch(() => {});
    known.fail(reason);
    this.#report(known);
  }

  /** The end is recorded before it takes effect. */
  async #finish(known: KnownQuestion, state: 'answered' | 'expired', answer: QuestionAnswer): Promise<void> {
    known.end = state;
    const body = questionEndBody({ question_id: known.open.question.question_id, state, answer });
    try {
      await known.running.emit({ response_kind: 'e2a.chunk', body });
    } catch (error) {
      known.fail(error);
      throw error;
    }
    known.settle(answer);
    this.#report(known, answer);
  }

  #report({ open, askers, end }: KnownQuestion, answer?: QuestionAnswer): void {
    const { question_id } = open.question;
    const ended = end === undefined ? undefined : { question_id, state: end, ...(answer && { answer }) };
    if (ended !== undefined) {
      this.#ended.push({ one: { ...open, end: ended }, askers });
      if (this.#ended.length > MOST_REMEMBERED) this.#ended.shift();
    }
    for (const listener of this.#listeners) listener(open, ended);
  }
}

/** `end` is absent for a new question. */
export type QuestionListener = (question: OpenQuestion, end: QuestionEnd | undefined) => void;

/** A run that asks questions: a request that is being answered, or an execution that waits. */
export interface AskingRun extends StopSignal {
  readonly row: Pick<RequestRow, 'owner' | 'requestId' | 'agentId' | 'sessionId'>;
  /** The ids of other requests of the owner that the run answers. */
  readonly names?: readonly string[];
  /** Adds a frame to the answer. Resolves when it is recorded. */
  emit(frame: Partial<E2AResponse>): Promise<void>;
  /** Calls back when the run is over, however it ended. */
  onOver(callback: () => void): void;
}

interface KnownQuestion {
  readonly open: OpenQuestion;
  /** The agents that ask. */
  readonly askers: ReadonlySet<string>;
  readonly running: AskingRun;
  end: QuestionEnd['state'] | undefined;
  readonly settle: (answer: QuestionAnswer) => void;
  readonly fail: (reason: unknown) => void;
}

/** Why a caller may not answer: a sentence, or `not_found` where it may not see the question either. */
function refusalOf(
  { open, askers }: Pick<KnownQuestion, 'open' | 'askers'>,
  { principal, isToolCall = false }: Answerer,
): string | undefined {
  const isOwner = principal.id === open.owner && principal.kind !== 'anonymous';
  if (!isOwner && !allows(principal.permissions.operations, ANSWER_OPERATION)) return 'not_found';
  if (askers.has(principal.id)) return 'An agent cannot answer the question of a request that it answers.';
  if (isToolCall && needsPerson(open.question)) {
    return `A question of kind ${open.question.kind} cannot be answered by a tool call: a person has to answer it.`;
  }
  return undefined;
}

/** When a question ended. For a withdrawn question, which has no such time, when it was asked. */
function endOf({ end: { answer }, question }: EndedQuestion): string {
  return answer?.at ?? question.asked_at;
}

function missingMember({ kind, options, schema, url }: NewQuestion): string | undefined {
  if ((kind === 'permission' || kind === 'plan' || kind === 'choice') && (options ?? []).length === 0) return 'options';
  if (kind === 'form' && schema === undefined) return 'schema';
  if (kind === 'url' && url === undefined) return 'url';
  const ids = (options ?? []).map(({ id }) => id);
  return new Set(ids).size === ids.length ? undefined : 'options with different ids';
}

const SELECTED = (option_id: string) => ({ action: 'selected', option_id }) as const;

/** The operation for answering the questions of others. */
export const ANSWER_OPERATION = 'questions.answer';
const CONSENT: QuestionOption[] = [
  { id: 'allow', name: 'Allow', kind: 'allow_once' },
  { id: 'reject', name: 'Reject', kind: 'reject_once' },
];
const DEFAULT_OPTIONS: Partial<Record<Question['kind'], QuestionOption[]>> = { permission: CONSENT, plan: CONSENT };
const ENDED = {
  answered: 'The question has been answered already.',
  expired: 'The time to answer the question is over.',
  withdrawn: 'The question was withdrawn.',
} as const;
const DEFAULT_EXPIRY_MS = 600_000;
const MOST_OPEN = 16;
const MOST_QUESTIONS = 1000;
const MOST_REMEMBERED = 200;

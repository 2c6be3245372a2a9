import {
  decodeNewQuestion,
  type E2AResponse,
  failure,
  formatTimestamp,
  type GivenAnswer,
  type Json,
  type NewQuestion,
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
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly question: Question;
}

/** A question that has ended, and how. */
export interface EndedQuestion extends OpenQuestion {
  readonly end: QuestionEnd;
}

/** Who answers a question, and how. */
export interface Answerer {
  readonly principal: Principal;
  /** How the answer arrived, such as `e2a`, `acp` or `a2a-mailbox`. */
  readonly channel: string;
  /** It is a tool call, which a model may have made by itself. */
  readonly isToolCall?: boolean | undefined;
}

/**
 * The questions that running requests have put to people. A question is open until somebody answers it, its time runs out, or its
 * request ends; the first answer counts. It lives as long as its request runs, and so does the memory of how it ended.
 *
 *   open ──answer──▶ answered
 *     ├──time──────▶ expired     its rejecting option, or decline
 *     └──end───────▶ withdrawn
 */
export class OpenQuestions {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #log: Log;
  readonly #asked = new Map<string, Asked>();
  /** The latest ones, oldest first. Their requests have recorded them; here they are only listed. */
  readonly #ended: { readonly one: EndedQuestion; readonly askers: ReadonlySet<string> }[] = [];
  readonly #listeners = new Set<QuestionListener>();
  #elsewhere: QuestionsElsewhere | undefined;

  constructor({ clock, ids, log }: { readonly clock: Clock; readonly ids: Ids; readonly log: Log }) {
    this.#clock = clock;
    this.#ids = ids;
    this.#log = log;
  }

  /** Puts a question to whoever may answer for this request. Rejects when the request, or the signal, ends first. */
  async ask(running: AskingRun, given: NewQuestion, options: AskingOptions = {}): Promise<QuestionAnswer> {
    return this.open(running, this.made(given), options);
  }

  /** The same with a question that was made before, perhaps by an earlier process. Its time counts from when it was asked. */
  async open(
    running: AskingRun,
    question: Question,
    { signal, askers = [] }: AskingOptions = {},
  ): Promise<QuestionAnswer> {
    const { owner, requestId, agentId, sessionId } = running.row;
    if (running.aborted) throw running.reason;
    signal?.throwIfAborted();
    const mine = [...this.#asked.values()].filter(({ running: one }) => one === running);
    if (mine.filter(({ end }) => end === undefined).length >= MOST_OPEN || mine.length >= MOST_ASKED) {
      throw new RangeError(`a request may ask ${MOST_ASKED} questions, ${MOST_OPEN} at once`);
    }
    return new Promise<QuestionAnswer>((resolve, reject) => {
      const asked: Asked = {
        open: { owner, requestId, agentId, sessionId, question },
        names: new Set([requestId, ...(running.names ?? [])]),
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
      const cancelTimer = this.#clock.after(Math.max(left, 0), () => this.#expire(asked));
      const withdrawn = () => this.#withdraw(asked, running.aborted ? running.reason : signal?.reason);
      const forget = () => {
        cancelTimer();
        running.removeEventListener('abort', withdrawn);
        signal?.removeEventListener('abort', withdrawn);
      };
      this.#asked.set(question.question_id, asked);
      running.onOver(() => {
        this.#withdraw(asked, new Refused(failure('cancelled', {}, 'The request has ended.')));
        this.#asked.delete(question.question_id);
      });
      running.addEventListener('abort', withdrawn, { once: true });
      signal?.addEventListener('abort', withdrawn, { once: true });
      // Told to readers only when it is on disk; until then nobody knows its id.
      running
        .tell({ response_kind: 'acp.output_request', body: questionBody(question, sessionId) })
        .then(() => this.#report(asked), asked.fail);
    });
  }

  /** The open questions of a request, oldest first. */
  of({ owner, requestId }: RequestKey): readonly OpenQuestion[] {
    const asked = [...this.#asked.values()].filter(({ end, names }) => end === undefined && names.has(requestId));
    return asked.map(({ open }) => open).filter((open) => open.owner === owner);
  }

  /** The open questions that a caller may answer, oldest first. */
  openFor(principal: Principal): readonly OpenQuestion[] {
    return this.#open().filter((one) => this.mayAnswer(one.question.question_id, { principal, channel: '' }));
  }

  /** Those that have ended lately and that a caller might have answered, newest first. */
  endedFor(principal: Principal): readonly EndedQuestion[] {
    const answerer = { principal, channel: '' };
    const might = this.#ended.filter(({ one: open, askers }) => refusalOf({ open, askers }, answerer) === undefined);
    return might.map(({ one }) => one).reverse();
  }

  /** Whether this caller may answer this question this way. An unknown one nobody may. */
  mayAnswer(questionId: string, answerer: Answerer): boolean {
    const asked = this.#asked.get(questionId);
    return asked !== undefined && refusalOf(asked, answerer) === undefined;
  }

  /** Runs of other nodes may ask, too. */
  join(elsewhere: QuestionsElsewhere): void {
    this.#elsewhere = elsewhere;
  }

  /** The open questions of a request, whichever node answers it. */
  async anywhereOf(key: RequestKey): Promise<readonly OpenQuestion[]> {
    const here = this.of(key);
    return here.length > 0 || this.#elsewhere === undefined ? here : this.#elsewhere.of(key);
  }

  /** The open questions on all nodes that a caller may answer, oldest first. */
  async anywhereFor(principal: Principal): Promise<readonly OpenQuestion[]> {
    const elsewhere = (await this.#elsewhere?.openFor(principal)) ?? [];
    const open = [...this.openFor(principal), ...elsewhere];
    return open.sort((a, b) => Date.parse(a.question.asked_at) - Date.parse(b.question.asked_at));
  }

  /** Whether this node knows the question. */
  has(questionId: string): boolean {
    return this.#asked.has(questionId);
  }

  /** Calls back for every question that is asked, and for every end of one. */
  onChange(listener: QuestionListener): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Answers a question; resolves when the answer is recorded. Rejects with `Refused`: `not_found` also for a question of somebody
   * else's, `conflict` for one that has ended, `forbidden` where this caller may not answer it, `invalid_message` for an answer
   * that does not fit. Without `requestId`, the question is found by its own id.
   */
  async answer(
    { questionId, requestId }: { readonly questionId: string; readonly requestId?: string | undefined },
    given: GivenAnswer,
    answerer: Answerer,
  ): Promise<QuestionAnswer> {
    const asked = this.#asked.get(questionId);
    const refusal = asked === undefined ? undefined : refusalOf(asked, answerer);
    const isOther = requestId !== undefined && asked?.names.has(requestId) !== true;
    if (asked === undefined) {
      const taken = await this.#elsewhere?.answer({ questionId, requestId }, given, answerer);
      if (taken !== undefined) return taken;
    }
    if (asked === undefined || isOther || refusal === 'not_found') {
      refuse('not_found', {}, `There is no open question ${JSON.stringify(questionId.slice(0, 100))}.`);
    }
    if (refusal !== undefined) refuse('forbidden', {}, refusal);
    if (asked.end !== undefined) refuse('conflict', {}, ENDED[asked.end]);
    const { principal, channel } = answerer;
    const answer = {
      ...fittingAnswer(asked.open.question, given),
      by: principal.id,
      channel,
      at: formatTimestamp(this.#clock.now()),
    };
    await this.#finish(asked, 'answered', answer);
    return answer;
  }

  #open(): OpenQuestion[] {
    return [...this.#asked.values()].flatMap(({ end, open }) => (end === undefined ? [open] : []));
  }

  /** A question as it is asked. Throws where it cannot be. */
  made(given: NewQuestion): Question {
    const decoded = decodeNewQuestion(given as unknown as Json);
    if (!decoded.ok) throw new TypeError(`call.ask: ${decoded.issues[0]?.message ?? 'the question is not valid'}`);
    const { expires_in_ms = DEFAULT_EXPIRY_MS, ...question } = decoded.value;
    const now = this.#clock.now().getTime();
    const options = question.options ?? DEFAULT_OPTIONS[question.kind];
    const missing = whatIsMissing({ ...question, ...(options && { options }) });
    if (missing !== undefined) throw new TypeError(`call.ask: a question of kind ${question.kind} needs ${missing}`);
    return {
      question_id: `q_${this.#ids.hex()}`,
      ...question,
      ...(options !== undefined && { options }),
      asked_at: formatTimestamp(new Date(now)),
      expires_at: formatTimestamp(new Date(now + expires_in_ms)),
    };
  }

  #expire(asked: Asked): void {
    if (asked.end !== undefined) return;
    const option = rejectingOption(asked.open.question);
    const choice = option === undefined ? ({ action: 'decline' } as const) : SELECTED(option.id);
    const answer = { ...choice, by: null, channel: 'expiry', at: formatTimestamp(this.#clock.now()) };
    this.#finish(asked, 'expired', answer).catch((error) => {
      this.#log.warn({ question_id: asked.open.question.question_id, error: String(error) }, 'a question has no end');
    });
  }

  #withdraw(asked: Asked, reason: unknown): void {
    if (asked.end !== undefined) return;
    asked.end = 'withdrawn';
    const body = questionEndBody({ question_id: asked.open.question.question_id, state: 'withdrawn' });
    // Before the last frame, where there is time for it.
    asked.running.tell({ response_kind: 'e2a.chunk', body }).catch(() => {});
    asked.fail(reason);
    this.#report(asked);
  }

  /** Recorded before anybody acts on it. */
  async #finish(asked: Asked, state: 'answered' | 'expired', answer: QuestionAnswer): Promise<void> {
    asked.end = state;
    const body = questionEndBody({ question_id: asked.open.question.question_id, state, answer });
    try {
      await asked.running.tell({ response_kind: 'e2a.chunk', body });
    } catch (error) {
      asked.fail(error);
      throw error;
    }
    asked.settle(answer);
    this.#report(asked, answer);
  }

  #report({ open, askers, end }: Asked, answer?: QuestionAnswer): void {
    const { question_id } = open.question;
    const ended = end === undefined ? undefined : { question_id, state: end, ...(answer && { answer }) };
    if (ended !== undefined) {
      this.#ended.push({ one: { ...open, end: ended }, askers });
      if (this.#ended.length > MOST_REMEMBERED) this.#ended.shift();
    }
    for (const listener of this.#listeners) listener(open, ended);
  }
}

/** `end` is absent when the question was asked just now. */
export type QuestionListener = (question: OpenQuestion, end: QuestionEnd | undefined) => void;

/** A run as far as it asks: a request that is being answered, or an execution that waits. */
export interface AskingRun extends StopSignal {
  readonly row: Pick<RequestRow, 'owner' | 'requestId' | 'agentId' | 'sessionId'>;
  /** Other requests of the owner that it answers. */
  readonly names?: readonly string[];
  /** Adds a frame to the answer. Resolves when it is recorded. */
  tell(frame: Partial<E2AResponse>): Promise<void>;
  /** Calls back when the run is over, however it ended. */
  onOver(callback: () => void): void;
}

interface Asked {
  readonly open: OpenQuestion;
  /** The requests that it is a question of. */
  readonly names: ReadonlySet<string>;
  /** The agents that ask. */
  readonly askers: ReadonlySet<string>;
  readonly running: AskingRun;
  end: QuestionEnd['state'] | undefined;
  readonly settle: (answer: QuestionAnswer) => void;
  readonly fail: (reason: unknown) => void;
}

/** Why a caller may not answer: in words, or `not_found` where it may not learn of the question either. */
function refusalOf(
  { open, askers }: Pick<Asked, 'open' | 'askers'>,
  { principal, isToolCall = false }: Answerer,
): string | undefined {
  const isOwner = principal.id === open.owner && principal.kind !== 'anonymous';
  if (!isOwner && !allows(principal.permissions.operations, ANSWER_OPERATION)) return 'not_found';
  if (askers.has(principal.id)) return 'An agent cannot answer the question of a request that it answers.';
  if (isToolCall && !ANSWERED_BY_TOOLS.has(open.question.kind)) {
    return `A question of kind ${open.question.kind} cannot be answered by a tool call: a person has to answer it.`;
  }
  return undefined;
}

function whatIsMissing({ kind, options, schema, url }: NewQuestion): string | undefined {
  if ((kind === 'permission' || kind === 'plan' || kind === 'choice') && (options ?? []).length === 0) return 'options';
  if (kind === 'form' && schema === undefined) return 'schema';
  if (kind === 'url' && url === undefined) return 'url';
  const ids = (options ?? []).map(({ id }) => id);
  return new Set(ids).size === ids.length ? undefined : 'options with different ids';
}

const SELECTED = (option_id: string) => ({ action: 'selected', option_id }) as const;

/** The operation that lets a caller answer the questions of others. */
export const ANSWER_OPERATION = 'questions.answer';
/** What a model may answer by itself. Everything else asks for somebody's consent. */
const ANSWERED_BY_TOOLS: ReadonlySet<string> = new Set(['choice', 'form']);
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
const MOST_ASKED = 1000;
const MOST_REMEMBERED = 200;

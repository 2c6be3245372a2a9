import type { GivenAnswer, Question, QuestionAnswer, QuestionEnd } from '@dragoman/protocols';
import type { Http } from './http.ts';
import { insist } from './insist.ts';
import { objectGiven, textGiven } from './invalid-argument.ts';
import type { RetryOptions } from './retry.ts';

/** An open question, with the request it belongs to. */
export interface PendingQuestion extends Question {
  readonly request_id: string;
  /** The sender of the request. */
  readonly caller_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly state: 'open';
}

/** A question that was answered, that has expired, or whose request has ended. */
export interface PastQuestion extends Omit<PendingQuestion, 'state'> {
  readonly state: QuestionEnd['state'];
  readonly answer?: QuestionAnswer;
}

/** The questions that running requests have put to people. */
export class PendingQuestions {
  readonly #http: Http;
  readonly #retry: Required<RetryOptions>;

  constructor(http: Http, retry: Required<RetryOptions>) {
    this.#http = http;
    this.#retry = retry;
  }

  /** The open questions, oldest first: those of your requests, or all with the permission for `questions.answer`. */
  async list({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly PendingQuestion[]> {
    const request = { path: 'e2a/questions?state=open', signal, gives: { questions: 'array' } } as const;
    return (await insist<{ questions: PendingQuestion[] }>(this.#http, this.#retry, request)).questions;
  }

  /** The last 200 questions that have ended since the server started, newest first. */
  async ended({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly PastQuestion[]> {
    const request = { path: 'e2a/questions?state=ended', signal, gives: { questions: 'array' } } as const;
    return (await insist<{ questions: PastQuestion[] }>(this.#http, this.#retry, request)).questions;
  }

  /**
   * Answers a question. Only the first answer counts: throws `conflict` if there is one already, or the request has
   * ended.
   */
  async answer(
    question: { readonly request_id: string; readonly question_id: string },
    answer: GivenAnswer,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<QuestionAnswer> {
    const given = objectGiven(question, 'question', '{ request_id, question_id }');
    const requestId = encodeURIComponent(textGiven(given.request_id, 'request_id'));
    const questionId = encodeURIComponent(textGiven(given.question_id, 'question_id'));
    const path = `e2a/requests/${requestId}/questions/${questionId}`;
    const body = JSON.stringify(objectGiven(answer, 'answer', "{ option_id: 'allow' }"));
    // Not retried: the second would conflict with the first.
    const taken = await this.#http.json<{ answer: QuestionAnswer }>({
      method: 'POST',
      path,
      body,
      signal,
      gives: { answer: 'object' },
    });
    return taken.answer;
  }
}

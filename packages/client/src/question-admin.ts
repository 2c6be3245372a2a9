import type { GivenAnswer, QuestionAnswer } from '@dragoman/protocols';
import type { Http } from './http.ts';
import type { PastQuestion, PendingQuestion } from './pending-questions.ts';

/** The questions of all requests, for operators. */
export class QuestionAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The open questions, oldest first. */
  async list({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly PendingQuestion[]> {
    const request = { path: 'admin/v1/questions', signal, gives: { questions: 'array' } } as const;
    return (await this.#http.json<{ questions: readonly PendingQuestion[] }>(request)).questions;
  }

  /** The last 200 questions that have ended since the server started, newest first. */
  async ended({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly PastQuestion[]> {
    const request = { path: 'admin/v1/questions?state=ended', signal, gives: { questions: 'array' } } as const;
    return (await this.#http.json<{ questions: readonly PastQuestion[] }>(request)).questions;
  }

  /**
   * Answers a question. Only the first answer counts: throws `conflict` if there is one already, or the request has
   * ended.
   */
  async answer({ question_id: id }: { readonly question_id: string }, answer: GivenAnswer): Promise<QuestionAnswer> {
    const taken = await this.#http.json<{ answer: QuestionAnswer }>({
      method: 'POST',
      path: `admin/v1/questions/${encodeURIComponent(id)}`,
      body: JSON.stringify(answer),
      gives: { answer: 'object' },
    });
    return taken.answer;
  }
}

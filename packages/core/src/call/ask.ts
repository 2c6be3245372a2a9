import type { NewQuestion, QuestionAnswer } from '@dragoman/protocols';

/**
 * Asks a person, in the middle of a request. Resolves with the answer; without an answer in time, with the rejecting
 * option or `decline`. Rejects when the request ends first.
 */
export type Ask = (question: NewQuestion, options?: AskingOptions) => Promise<QuestionAnswer>;

export interface AskingOptions {
  /** Withdraws the question. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The agents on whose behalf the question is asked, in addition to the one that answers the request. None of them may
   * answer it.
   */
  readonly askers?: readonly string[] | undefined;
}

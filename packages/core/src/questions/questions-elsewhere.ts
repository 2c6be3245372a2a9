import type { GivenAnswer, QuestionAnswer } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import type { RequestKey } from '../store/store.ts';
import type { Answerer, OpenQuestion } from './open-questions.ts';

/** The questions that runs of other nodes have asked. Absent where one process owns the store. */
export interface QuestionsElsewhere {
  /** `undefined` when no other node has this question for this caller. Rejects with `Refused` as `OpenQuestions.answer` does. */
  answer(
    question: { readonly questionId: string; readonly requestId?: string | undefined },
    given: GivenAnswer,
    answerer: Answerer,
  ): Promise<QuestionAnswer | undefined>;
  /** The open questions of a request. */
  of(key: RequestKey): Promise<readonly OpenQuestion[]>;
  /** The open questions that a caller may answer. */
  openFor(principal: Principal): Promise<readonly OpenQuestion[]>;
}

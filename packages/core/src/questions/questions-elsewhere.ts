import type { GivenAnswer, JsonObject, QuestionAnswer } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import type { Answerer, EndedQuestion, OpenQuestion } from './open-questions.ts';

/** The questions that runs of other nodes have asked. Absent where one process owns the store. */
export interface QuestionsElsewhere {
  /**
   * Answers a question of another node. `undefined` if no other node has this question for this caller. Rejects with
   * `Refused` as `OpenQuestions.answer` does.
   */
  answer(
    question: { readonly questionId: string; readonly requestId?: string | undefined },
    given: GivenAnswer,
    answerer: Answerer,
  ): Promise<QuestionAnswer | undefined>;
  /** The open questions of all requests of an owner. */
  ofOwner(owner: string): Promise<readonly OpenQuestion[]>;
  /** The open questions that a caller may answer. */
  openFor(principal: Principal): Promise<readonly OpenQuestion[]>;
  /** The latest ended questions that a caller could have answered. */
  endedFor(principal: Principal): Promise<readonly EndedQuestion[]>;
}

/** The calls of agents on other nodes to their caller's client. Absent where one process owns the store. */
export interface ClientCallsElsewhere {
  /** False where no other node has an open call with this id for this caller. */
  answer(id: string, owner: string, response: JsonObject): Promise<boolean>;
}

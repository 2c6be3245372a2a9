import * as validators from '../generated/e2a.js';
import { isObject, type Json } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { issuesOf } from '../validation.ts';
import {
  GivenAnswer,
  NewQuestion,
  QUESTION_ENDS,
  QUESTION_RESOLVED,
  type Question,
  type QuestionAnswer,
  type QuestionEnd,
} from './question.ts';
import type { E2AResponse } from './response.ts';

export function decodeNewQuestion(json: Json): Outcome<NewQuestion> {
  const issues = issuesOf(validators.NewQuestion, NewQuestion, json);
  return issues.length > 0 ? reject(...issues) : accept(json as NewQuestion);
}

export function decodeGivenAnswer(json: Json): Outcome<GivenAnswer> {
  const issues = issuesOf(validators.GivenAnswer, GivenAnswer, json);
  return issues.length > 0 ? reject(...issues) : accept(json as GivenAnswer);
}

/** The question in a frame; `undefined` if there is none that can be answered here. */
export function questionIn({ response_kind: kind, body }: FramePart): Question | undefined {
  const question = kind === 'acp.output_request' ? body['question'] : undefined;
  return validators.Question(question) ? (question as Question) : undefined;
}

/** The end of a question that a frame reports. */
export function questionEndIn({ response_kind: kind, body }: FramePart): QuestionEnd | undefined {
  const { event_type: event, delta } = body;
  if (kind !== 'e2a.chunk' || event !== QUESTION_RESOLVED || !isObject(delta)) return undefined;
  const { question_id, state, answer } = delta;
  const end = QUESTION_ENDS.find((one) => one === state);
  if (typeof question_id !== 'string' || end === undefined) return undefined;
  return { question_id, state: end, ...(isObject(answer) && { answer: answer as QuestionAnswer }) };
}

/** The body of the frame that reports the end of a question. */
export function questionEndBody(end: QuestionEnd): E2AResponse['body'] {
  return { delta_kind: 'custom', event_type: QUESTION_RESOLVED, delta: { event_type: QUESTION_RESOLVED, ...end } };
}

type FramePart = Pick<E2AResponse, 'response_kind' | 'body'>;

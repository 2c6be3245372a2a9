import type { GivenAnswer, Question } from '../e2a/question.ts';
import { answerFromText } from '../e2a/question-text.ts';
import { decodeGivenAnswer } from '../e2a/read-question.ts';
import { isObject, type Json } from '../json.ts';
import type { Message } from './shapes.ts';

/**
 * The answer that a message gives to a question: its data part, or its text. Data is the filled form, or an answer as
 * E2A writes it (`option_id`, `action`, `content`). `undefined` if the message cannot be an answer to this question.
 */
export function answerInMessage(question: Question, { parts }: Pick<Message, 'parts'>): GivenAnswer | undefined {
  const data = parts.find((part) => part.data !== undefined)?.data;
  if (data !== undefined) return answerInData(question, data);
  return answerFromText(question, parts.map(({ text = '' }) => text).join('\n'));
}

/** The id of the question that a message answers; `undefined` if its data part names none. */
export function questionNamed({ parts }: Pick<Message, 'parts'>): string | undefined {
  const data = parts.find((part) => part.data !== undefined)?.data;
  const id = isObject(data) ? data['question_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

function answerInData(question: Question, data: Json): GivenAnswer | undefined {
  if (!isObject(data)) return answerFromText(question, typeof data === 'string' ? data : JSON.stringify(data));
  const { question_id: _, ...rest } = data;
  const given = decodeGivenAnswer(rest);
  const isForm = question.schema !== undefined && Object.keys(rest).every((name) => isField(question, name));
  if (given.ok && !isForm && Object.keys(rest).length > 0) return given.value;
  return question.schema === undefined ? undefined : { action: 'accept', content: rest };
}

function isField({ schema }: Question, name: string): boolean {
  return schema !== undefined && Object.hasOwn(schema.properties, name);
}

import type { Question, QuestionAnswer, QuestionEnd } from '../e2a/question.ts';
import { questionText } from '../e2a/question-text.ts';
import { questionEndIn, questionIn } from '../e2a/read-question.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { MailboxMessage, MailboxResponse } from './message.ts';

/** A question to a person, or its end, as a mailbox message reports it. */
export interface QuestionReport {
  readonly messageId: string;
  /** The id of the message that it replies to, if that is not the request. */
  readonly replyTo?: string;
  readonly timestamp: string | null;
  /** `input_required`, or how the question ended: `answered`, `expired` or `withdrawn`. */
  readonly status: string;
  readonly content: string;
  readonly metadata: JsonObject;
}

/**
 * The message for a frame with a question, or with the end of one. The message of a question has the question's id, so
 * that a reply to it is the answer. The end is another message, so that nobody answers a question that is over.
 */
export function questionReportIn(frame: E2AResponse): QuestionReport | undefined {
  const question = questionIn(frame);
  if (question !== undefined) return reportOf(question);
  const end = questionEndIn(frame);
  return end === undefined ? undefined : endReportOf(end, frame.timestamp);
}

function reportOf(question: Question): QuestionReport {
  const { question_id: messageId, asked_at: timestamp } = question;
  return {
    messageId,
    timestamp,
    status: 'input_required',
    content: `${questionText(question)}\nReply to this message: "replyTo": "${messageId}".`,
    metadata: { question: question as unknown as Json },
  };
}

function endReportOf({ question_id: replyTo, state, answer }: QuestionEnd, at: string | null): QuestionReport {
  return {
    messageId: `${replyTo}_end`,
    replyTo,
    timestamp: answer?.at ?? at,
    status: state,
    content: ENDS[state](answer),
    metadata: { question_id: replyTo, ...(answer !== undefined && { answer: answer as unknown as Json }) },
  };
}

/** The id of the question that a message replies to; `undefined` if it does not reply to a question. */
export function repliedQuestion(replyTo: string | null): string | undefined {
  return replyTo !== null && QUESTION_ID.test(replyTo) ? replyTo : undefined;
}

/**
 * The answer that a message gives to a question, as `chat.user_answer` takes it: a text, or an object with `option_id`,
 * `action` or `content`. Any other object is a filled form.
 */
export function answerParams({ message }: Pick<MailboxMessage, 'message'>): JsonObject {
  const { content } = message;
  if (!isObject(content)) return { text: typeof content === 'string' ? content : JSON.stringify(content) };
  const keys = Object.keys(content);
  const isAnswer = keys.length > 0 && keys.every((key) => GIVEN.has(key));
  return isAnswer ? content : { content };
}

/** A response of another mailbox as a message to this one. */
export function messageOfResponse({ metadata, ...response }: MailboxResponse): MailboxMessage {
  const { version, messageId, timestamp, from, to, message, replyTo, threadId } = response;
  return {
    version,
    messageId,
    timestamp,
    from: { ...from, callbackUrl: null },
    to: { name: to.name, agentId: to.agentId },
    message: metadata.status === 'error' ? DECLINE : message,
    metadata: { messageId, timestamp, replyTo, threadId, priority: 'normal', expiresAt: null },
  };
}

const ENDS = {
  answered: (answer: QuestionAnswer | undefined) => `Answered: ${answer?.option_id ?? answer?.action}.`,
  expired: (answer: QuestionAnswer | undefined) =>
    `The time to answer has run out: ${answer?.option_id ?? 'the question was declined'}.`,
  withdrawn: () => 'The question was withdrawn: the request has ended.',
} as const;
const GIVEN: ReadonlySet<string> = new Set(['option_id', 'action', 'content']);
const DECLINE = { contentType: 'application/json', content: { action: 'decline' } } as const;
/** The form of question ids in a server. */
const QUESTION_ID = /^q_[0-9a-f]{32}$/;

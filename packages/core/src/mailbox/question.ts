import {
  type E2AResponse,
  newResponse,
  type Question,
  questionBody,
  questionEndIn,
  questionIn,
} from '@dragoman/protocols';
import {
  answerParams,
  type MailboxMessage,
  type MailboxResponse,
  repliedQuestion,
} from '@dragoman/protocols/a2a-mailbox';
import type { Principal } from '../call/principal.ts';
import type { OpenQuestions } from '../questions/open-questions.ts';
import { type AskedMessage, mailboxAnswerOf } from './answer.ts';

/** What a frame tells a sender of a question, or of the end of one; `undefined` for every other frame. */
export function questionMessageIn(asked: AskedMessage, frame: E2AResponse): MailboxResponse | undefined {
  const end = questionEndIn(frame);
  if (end === undefined && questionIn(frame) === undefined) return undefined;
  // Who answered it by a reply has the answer to that reply.
  const { by, channel } = end?.answer ?? {};
  if (by === asked.owner && channel === 'a2a-mailbox') return undefined;
  return isAnonymous(asked) ? undefined : mailboxAnswerOf(asked, frame);
}

/** The message that asks an open question. */
export function questionMessageOf(asked: AskedMessage, question: Question): MailboxResponse | undefined {
  const body = questionBody(question, asked.envelope.session_id);
  return questionMessageIn(asked, newResponse({ response_kind: 'acp.output_request', body }));
}

/** Whether this message asks a question that is open. */
export function isOpen(questions: OpenQuestions, asked: AskedMessage, messageId: string): boolean {
  return questions.of(asked).some(({ question }) => question.question_id === messageId);
}

/** What a reply to a question asks of the server, in place of an agent; `undefined` when the message is none. */
export function answerRequestIn(message: MailboxMessage, { kind }: Principal) {
  const questionId = repliedQuestion(message.metadata.replyTo);
  if (questionId === undefined || kind === 'anonymous') return undefined;
  return { method: 'chat.user_answer', params: { ...answerParams(message), question_id: questionId } };
}

/** Nobody has proven to be that sender, so nobody can answer in its name. */
function isAnonymous({ envelope }: AskedMessage): boolean {
  return envelope.channel_context['anonymous'] === true;
}

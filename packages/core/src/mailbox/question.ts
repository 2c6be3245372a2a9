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
import { type MailboxRequest, mailboxAnswerOf } from './answer.ts';

/** The message to the sender about a question or its end; `undefined` for every other frame. */
export function questionMessageIn(request: MailboxRequest, frame: E2AResponse): MailboxResponse | undefined {
  const end = questionEndIn(frame);
  if (end === undefined && questionIn(frame) === undefined) return undefined;
  // A sender that answered by a reply already gets the answer to that reply.
  const { by, channel } = end?.answer ?? {};
  if (by === request.owner && channel === 'a2a-mailbox') return undefined;
  return isAnonymous(request) ? undefined : mailboxAnswerOf(request, frame);
}

/** The message that asks an open question. */
export function questionMessageOf(request: MailboxRequest, question: Question): MailboxResponse | undefined {
  const body = questionBody(question, request.envelope.session_id);
  return questionMessageIn(request, newResponse({ response_kind: 'acp.output_request', body }));
}

/** The request to the server that a reply to a question stands for; `undefined` for any other message. */
export function answerRequestIn(message: MailboxMessage, { kind }: Principal) {
  const questionId = repliedQuestion(message.metadata.replyTo);
  if (questionId === undefined || kind === 'anonymous') return undefined;
  return { method: 'chat.user_answer', params: { ...answerParams(message), question_id: questionId } };
}

/** The sender's identity is not proven, so no one can answer in its name. */
function isAnonymous({ envelope }: MailboxRequest): boolean {
  return envelope.channel_context['anonymous'] === true;
}

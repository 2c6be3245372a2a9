import type { E2AEnvelope } from '../e2a/envelope.ts';
import type { NewQuestion, Question, QuestionAnswer } from '../e2a/question.ts';
import { questionText } from '../e2a/question-text.ts';
import { decodeNewQuestion } from '../e2a/read-question.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { parseTimestamp } from '../time.ts';
import { answererOf, askerOf, messageIdOf } from './hub.ts';
import type { A2AMessage, ErrorMessage, RequestMessage, ResponseMessage } from './message.ts';
import { derivedMessageId } from './message-id.ts';
import type { ResponsePayload } from './payloads.ts';

/** The method of a request that passes an agent's question on to the sender of the original request. */
export const QUESTION_METHOD = 'answer_question';

/** The `message_id` of the message that asks a question, the same each time it is sent. */
export function questionMessageId(questionId: string): string {
  return derivedMessageId(questionId);
}

/** A question as a request to the sender of the request that it belongs to. Its response is the answer. */
export function questionMessage(question: Question, request: E2AEnvelope): RequestMessage {
  return {
    message_id: questionMessageId(question.question_id),
    message_type: 'request',
    sender_id: answererOf(request, null),
    recipient_id: askerOf(request),
    timestamp: question.asked_at,
    payload: {
      method: QUESTION_METHOD,
      parameters: {
        request_id: messageIdOf(request) ?? null,
        question: question as unknown as Json,
        text: questionText(question),
      },
    },
    correlation_id: null,
  };
}

/** A peer's question about a request of this server; `undefined` if the message is not one. */
export function questionFromPeer(message: A2AMessage, requestId: string, now: Date): NewQuestion | undefined {
  if (message.message_type !== 'request' || message.payload.method !== QUESTION_METHOD) return undefined;
  const { request_id: about, question } = message.payload.parameters ?? {};
  if (about !== requestId || !isObject(question)) return undefined;
  const { question_id: _, asked_at: __, expires_at: expires, ...rest } = question;
  const end = typeof expires === 'string' ? parseTimestamp(expires) : undefined;
  const left = end === undefined ? undefined : Math.max(1, end - now.getTime());
  const decoded = decodeNewQuestion({ ...rest, ...(left !== undefined && { expires_in_ms: left }) });
  return decoded.ok ? decoded.value : undefined;
}

/**
 * The answer that a response gives, as `chat.user_answer` takes it: `data` with `option_id`, `action`, `content` or
 * `text`. Any other object is a filled form. An error declines.
 */
export function answerInResponse({ payload }: ResponseMessage | ErrorMessage): JsonObject {
  const data = payload['data'];
  if (payload['status'] !== 'success' || !isObject(data)) return { action: 'decline' };
  const keys = Object.keys(data);
  return keys.length > 0 && keys.every((key) => GIVEN.has(key)) ? data : { content: data };
}

/** An answer as the payload of a response. */
export function answerPayload({ action, option_id, content }: QuestionAnswer): ResponsePayload {
  const data: JsonObject = {
    ...(action !== 'selected' && { action }),
    ...(option_id !== undefined && { option_id }),
    ...(content !== undefined && { content }),
  };
  return { status: 'success', data };
}

const GIVEN: ReadonlySet<string> = new Set(['option_id', 'action', 'content', 'text']);

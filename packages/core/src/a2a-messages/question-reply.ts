import { type E2AEnvelope, type JsonObject, newEnvelope, newProvenance } from '@dragoman/protocols';
import {
  type A2AMessage,
  answerInResponse,
  type ErrorMessage,
  questionMessageId,
  type ResponseMessage,
} from '@dragoman/protocols/a2a-messages';
import type { Principal } from '../call/principal.ts';
import type { Engine } from '../engine/engine.ts';

/** The answer that a message gives to a question that its sender may answer, or that this message has answered before. */
export async function answeredQuestion(
  message: A2AMessage,
  principal: Principal,
  { questions, runs }: Engine,
): Promise<JsonObject | undefined> {
  if (message.message_type !== 'response' && message.message_type !== 'error') return undefined;
  const open = (await questions.anywhereFor(principal)).find(
    ({ question }) => questionMessageId(question.question_id) === message.correlation_id,
  );
  if (open !== undefined) {
    return { ...answerInResponse(message), question_id: open.question.question_id, request_id: open.requestId };
  }
  const earlier = await runs.find({ owner: principal.id, requestId: message.message_id });
  return earlier?.envelope.method === METHOD ? earlier.envelope.params : undefined;
}

export function answerEnvelope(message: A2AMessage, params: JsonObject): E2AEnvelope {
  return newEnvelope({
    provenance: newProvenance({ source_protocol: 'a2a-messages', converter: 'dragoman' }),
    request_id: message.message_id,
    message_id: message.message_id,
    timestamp: message.timestamp,
    identity_origin: 'agent',
    source_agent_id: message.sender_id,
    method: METHOD,
    params,
    is_stream: true,
  });
}

/** A response is not answered by a response: its error is reported by an `error` message from this server. */
export function errorAboutResponse({ payload, ...response }: ResponseMessage, senderId: string): ErrorMessage {
  const error = payload['error'] as ErrorMessage['payload']['error'];
  return { ...response, message_type: 'error', sender_id: senderId, payload: { error } };
}

const METHOD = 'chat.user_answer';

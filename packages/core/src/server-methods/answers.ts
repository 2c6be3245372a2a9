import {
  answerFromAcpResponse,
  decodeGivenAnswer,
  type E2AEnvelope,
  type GivenAnswer,
  isObject,
} from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import { hopsOf } from '../call/hops.ts';
import type { Answerer } from '../questions/open-questions.ts';
import { refuse } from '../refusals/refused.ts';
import { textParam } from './params.ts';
import type { ServerMethod } from './server-methods.ts';

/** Answers a question of a running request: `{request_id, question_id, option_id | content | action | text}`. */
export const chatUserAnswer: ServerMethod = async function* (envelope, call, { questions }) {
  const questionId = textParam(envelope, 'question_id') ?? needed(envelope, 'question_id');
  const requestId = textParam(envelope, 'request_id');
  const { action, option_id, content, text } = envelope.params;
  const given = decodeGivenAnswer({
    ...(action !== undefined && { action }),
    ...(option_id !== undefined && { option_id }),
    ...(content !== undefined && { content }),
    ...(text !== undefined && { text }),
  });
  if (!given.ok) refuse('invalid_message', { issues: given.issues }, `params: ${given.issues[0]?.message}`);
  const answer = await questions.answer({ questionId, requestId }, given.value, answererOf(envelope, call));
  return { question_id: questionId, answer };
};

/**
 * The same in ACP's form: `{jsonrpc_id, response}`, where `jsonrpc_id` is the id of the `acp.output_request` frame. It
 * also answers an agent's calls to the caller's client, such as for a file.
 */
export const acpToolResponse: ServerMethod = async function* (envelope, call, { questions, clientCalls }) {
  const questionId = textParam(envelope, 'jsonrpc_id') ?? needed(envelope, 'jsonrpc_id');
  const response = envelope.params['response'] ?? null;
  if (isObject(response) && (await clientCalls.answer(questionId, call.principal.id, response))) return {};
  const given: GivenAnswer = answerFromAcpResponse(response);
  const answer = await questions.answer({ questionId }, given, answererOf(envelope, call));
  return { question_id: questionId, answer };
};

/** Answers through tools, agents or workflows of this server may come from a model, so they are marked. */
function answererOf(envelope: E2AEnvelope, { principal }: Call): Answerer {
  const { source_protocol: channel } = envelope.provenance;
  return { principal, channel, isToolCall: hopsOf(envelope) > 0 || channel === 'a2e-wire' };
}

function needed({ method }: E2AEnvelope, name: string): never {
  const message = `${method} needs params.${name}.`;
  refuse('invalid_message', { issues: [{ pointer: `/params/${name}`, code: 'required', message }] }, message);
}

import { FAILURES } from '../../failure.ts';
import { isEmpty } from '../../holds-something.ts';
import { isObject, type Json, type JsonObject } from '../../json.ts';
import type { E2AEnvelope } from '../envelope.ts';
import { isKeepalive } from '../invariants.ts';
import type { E2AResponse } from '../response.ts';
import type { A2aStreamEventBody } from '../response-body.ts';
import { BRANCH_KEYS, isBranch } from './a2a.ts';
import { textOfResult } from './result-text.ts';
import { respellA2a } from './spelling.ts';

/** The StreamResponse a Linux Foundation A2A client gets for one frame, in A2A's own spelling. */
export function a2aStreamPayloadFor(response: E2AResponse, request: E2AEnvelope): JsonObject | undefined {
  const event = a2aStreamEventOf(response, request);
  return event && { [BRANCH_KEYS[event.branch]]: respellA2a(event.payload, 'camelCase') };
}

/**
 * One frame as the body of an `a2a.stream_event`: text extends an artifact, reasoning and tools are status updates of a
 * working task, the final frame is the task itself. `undefined` for a frame that A2A cannot express.
 */
export function a2aStreamEventOf(response: E2AResponse, request: E2AEnvelope): A2aStreamEventBody | undefined {
  const body = response.body;
  switch (response.response_kind) {
    case 'a2a.stream_event':
      return streamEventOf(body);
    case 'a2a.task':
      return { branch: 'task', payload: body };
    case 'a2a.message':
      return { branch: 'message', payload: body };
    case 'e2a.chunk':
      return isKeepalive(response) ? undefined : chunkEvent(body, response, request);
    default:
      return response.is_final ? { branch: 'task', payload: finalTask(response, request) } : undefined;
  }
}

function streamEventOf({ branch, payload }: JsonObject): A2aStreamEventBody | undefined {
  return isBranch(branch) && isObject(payload) ? { branch, payload } : undefined;
}

function chunkEvent(body: JsonObject, response: E2AResponse, request: E2AEnvelope): A2aStreamEventBody {
  const { delta_kind: kind, delta = '' } = body;
  const text = typeof delta === 'string' ? delta : textOfResult(delta);
  const { id, context } = taskOf(response, request);
  if (kind === 'text' && text !== undefined) {
    return {
      branch: 'artifact_update',
      payload: {
        task_id: id,
        context_id: context,
        artifact: { artifact_id: artifactOf(id), parts: [{ text }] },
        // Earlier frames are not known here; only the first frame certainly starts the artifact.
        append: response.sequence > 0,
        last_chunk: response.is_final,
      },
    };
  }
  // Reasoning is marked, so that a client can tell it from the answer.
  const part: JsonObject =
    kind === 'reasoning' && text !== undefined ? { text, metadata: { jiuwen_thought: true } } : partOf(delta);
  const status = statusOf('TASK_STATE_WORKING', response, [part]);
  return { branch: 'status_update', payload: { task_id: id, context_id: context, status } };
}

function finalTask(response: E2AResponse, request: E2AEnvelope): JsonObject {
  const body = response.body;
  const { id, context } = taskOf(response, request);
  if (response.response_kind === 'e2a.error' || response.status === 'failed') {
    const state = body['code'] === FAILURES.cancelled.e2a ? 'TASK_STATE_CANCELED' : 'TASK_STATE_FAILED';
    const message = typeof body['message'] === 'string' ? body['message'] : '';
    return { id, context_id: context, status: statusOf(state, response, [{ text: message }]) };
  }
  const result = response.response_kind === 'e2a.complete' ? (body['result'] ?? null) : body;
  return {
    id,
    context_id: context,
    status: statusOf('TASK_STATE_COMPLETED', response, []),
    ...(!isEmpty(result) && { artifacts: [{ artifact_id: artifactOf(id), parts: [partOf(result)] }] }),
  };
}

function statusOf(state: string, response: E2AResponse, parts: JsonObject[]): JsonObject {
  return {
    state,
    ...(response.timestamp !== null && { timestamp: response.timestamp }),
    ...(parts.length > 0 && { message: { message_id: messageIdOf(response), role: 'ROLE_AGENT', parts } }),
  };
}

/** The value as a part: as text if it has one, otherwise as data. */
function partOf(value: Json): JsonObject {
  const text = textOfResult(value);
  return text === undefined ? { data: value } : { text };
}

/** The ids that the client has for its task; if it gave none, the request's own. */
function taskOf(response: E2AResponse, request: E2AEnvelope): { id: string; context: string } {
  const id = response.task_id ?? request.task_id ?? response.request_id ?? request.request_id ?? messageIdOf(response);
  return { id, context: response.context_id ?? request.context_id ?? request.session_id ?? id };
}

function messageIdOf(response: E2AResponse): string {
  return response.response_id ?? `${response.request_id ?? ''}:${response.sequence}`;
}

function artifactOf(taskId: string): string {
  return `${taskId}:answer`;
}

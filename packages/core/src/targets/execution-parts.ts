import {
  type E2AResponse,
  isObject,
  type JsonObject,
  type Question,
  type QuestionEnd,
  questionBody,
  questionEndBody,
} from '@dragoman/protocols';
import type { AgentPart } from '../agents/agent.ts';
import type { ExecutionEventRecord } from '../executions/live-execution.ts';

/**
 * An event of an execution as part of an answer: each operation's start and end is a chunk; the end of the execution
 * has the result.
 */
export function partOf(event: ExecutionEventRecord): AgentPart {
  if (event.event === 'question-asked') {
    const { question } = JSON.parse(event.data) as { readonly question: Question };
    return { part: 'frame', frame: { response_kind: 'acp.output_request', body: questionBody(question, null) } };
  }
  if (event.event === 'question-resolved') {
    return { part: 'chunk', body: questionEndBody((JSON.parse(event.data) as { readonly end: QuestionEnd }).end) };
  }
  if (event.event !== 'execution-finished') return { part: 'chunk', body: chunkOf(event) };
  return endOf((JSON.parse(event.data) as { readonly result: JsonObject }).result);
}

/**
 * A key of the event that a frame of `partOf` reports, the same in every run: an operation's start or end, or a
 * question or its end.
 */
export function executionFrameKey({ response_kind: kind, body }: E2AResponse): string {
  const { delta, id = null } = body;
  const fields = isObject(delta) ? delta : ({} as JsonObject);
  return JSON.stringify([kind, fields['event'] ?? null, fields['tool_call_id'] ?? fields['question_id'] ?? id]);
}

function chunkOf({ event, data }: ExecutionEventRecord): JsonObject {
  const { operationId = '', key = operationId, execution_id, status, duration_ms } = JSON.parse(data) as JsonObject;
  return {
    delta_kind: 'tool',
    delta: {
      tool_call_id: `${String(execution_id)}:${String(key)}`,
      tool: operationId,
      status: event === 'operation-started' ? 'in_progress' : (STATUSES.get(status) ?? 'completed'),
      event,
      data: {
        execution_id: execution_id ?? null,
        key,
        ...(status !== undefined && { status, duration_ms: duration_ms ?? 0 }),
      },
    },
  };
}

/**
 * Every status except `success` is an error, so that an operation that ran this workflow does not continue as if it had
 * succeeded.
 */
function endOf(answer: JsonObject): AgentPart {
  const { status, error } = answer;
  if (status === 'success') return { part: 'complete', result: answer };
  const { type, message } = isObject(error) ? error : ({} as JsonObject);
  return {
    part: 'error',
    code: typeof type === 'string' ? type : 'WORKFLOW_FAILED',
    message: typeof message === 'string' ? message : `The workflow ended with status "${String(status)}".`,
    details: answer,
  };
}

const STATUSES: ReadonlyMap<unknown, string> = new Map([
  ['success', 'completed'],
  ['error', 'failed'],
]);

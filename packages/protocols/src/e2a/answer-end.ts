import { FAILURES } from '../failure.ts';
import { isObject } from '../json.ts';
import type { E2AResponse } from './response.ts';

/** How an answer ended. */
export type AnswerEnd = 'completed' | 'failed' | 'cancelled' | 'refused';

/**
 * How a request ended, from its final frame. ACP's stop reasons `refusal` and `cancelled` count as refused and
 * cancelled.
 */
export function answerEnd({ response_kind: kind, status, body }: E2AResponse): AnswerEnd {
  if (kind === 'e2a.error' || status === 'failed') {
    return body['code'] === FAILURES.cancelled.e2a ? 'cancelled' : 'failed';
  }
  const reason = stopReasonIn({ response_kind: kind, body });
  if (reason === 'refusal') return 'refused';
  return reason === 'cancelled' ? 'cancelled' : 'completed';
}

/** Why the agent stopped, in either spelling of ACP. */
export function stopReasonIn({ response_kind: kind, body }: Pick<E2AResponse, 'response_kind' | 'body'>) {
  const result = kind === 'e2a.complete' ? body['result'] : body;
  const reason = isObject(result) ? (result['stop_reason'] ?? result['stopReason']) : undefined;
  return typeof reason === 'string' ? reason : undefined;
}

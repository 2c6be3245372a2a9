import type { JsonObject } from '@dragoman/protocols';
import type { AnswerFold } from '@dragoman/protocols/mcp';
import type { RequestKey } from '../../store/store.ts';

export interface TaskTimes {
  readonly now: Date;
  /** How long answers are kept. */
  readonly keepMs: number;
  /** Epoch milliseconds. Default: now. */
  readonly acceptedAt?: number;
}

/** A running request as a task (tasks extension, `CreateTaskResult`): its id is that of the request. */
export function taskOf(key: RequestKey, fold: AnswerFold, times: TaskTimes): JsonObject {
  return { resultType: 'task', ...taskMembers(key, fold, times), status: 'working' };
}

export function taskMembers(
  { requestId }: RequestKey,
  { lastWords }: AnswerFold,
  { now, keepMs, acceptedAt }: TaskTimes,
): JsonObject {
  return {
    taskId: requestId,
    createdAt: new Date(acceptedAt ?? now.getTime()).toISOString(),
    lastUpdatedAt: now.toISOString(),
    ttlMs: keepMs,
    pollIntervalMs: 2000,
    ...(lastWords !== '' && { statusMessage: lastWords }),
  };
}

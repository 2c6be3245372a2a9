import { failure } from '@dragoman/protocols';
import { type ListTasksRequest, STATE_AT_END, type Task, type TaskState } from '@dragoman/protocols/lf-a2a';
import { Refused } from '../../refusals/refused.ts';
import type { RequestPlace, RequestProgress, RequestQuery } from '../../store/store.ts';

/** A page of tasks (specification §3.1.4). */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty when there are no more. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** The requests that a ListTasks call wants, of one caller to one agent. */
export function requestQueryOf(request: ListTasksRequest, { owner, agentId }: Tasked): RequestQuery {
  const { contextId, status, pageSize = DEFAULT_PAGE, pageToken = '', statusTimestampAfter } = request;
  return {
    owner,
    agentId,
    limit: pageSize,
    sessionId: contextId,
    progress: status === undefined ? undefined : PROGRESS[status],
    changedSince: statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter),
    after: pageToken === '' ? undefined : placeIn(pageToken, owner),
  };
}

export function pageTokenOf({ changedAt, requestId }: RequestPlace): string {
  return Buffer.from(`${changedAt} ${requestId}`).toString('base64url');
}

/** It names a place in the caller's own list, whatever it says. */
function placeIn(pageToken: string, owner: string): RequestPlace {
  const [, changedAt, requestId] = /^(\d{1,15}) (.+)$/s.exec(Buffer.from(pageToken, 'base64url').toString()) ?? [];
  if (changedAt !== undefined && requestId !== undefined) return { changedAt: Number(changedAt), owner, requestId };
  const message = 'pageToken must be a nextPageToken of this server';
  throw new Refused(
    failure('invalid_message', { issues: [{ pointer: '/pageToken', code: 'token', message }] }, message),
  );
}

interface Tasked {
  readonly owner: string;
  readonly agentId: string;
}

/** A task that waits for an answer to a question has no state of its own here yet. */
const PROGRESS: Readonly<Record<TaskState, readonly RequestProgress[]>> = {
  TASK_STATE_SUBMITTED: ['accepted', 'started'],
  TASK_STATE_WORKING: ['answering'],
  TASK_STATE_INPUT_REQUIRED: [],
  TASK_STATE_AUTH_REQUIRED: [],
  TASK_STATE_COMPLETED: ['completed'],
  TASK_STATE_FAILED: ['failed'],
  TASK_STATE_CANCELED: ['cancelled'],
  TASK_STATE_REJECTED: ['refused'],
};

/** The state of a task that can be shown without its frames: there is no message to it. */
export function stateWithoutFrames(progress: RequestProgress | null): TaskState | undefined {
  return progress === 'completed' || progress === 'refused' ? STATE_AT_END[progress] : undefined;
}

const DEFAULT_PAGE = 50;

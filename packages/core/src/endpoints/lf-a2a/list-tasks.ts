import { failure } from '@dragoman/protocols';
import {
  type ListTasksRequest,
  STATE_AT_END,
  type Task,
  type TaskState,
  waitingState,
} from '@dragoman/protocols/lf-a2a';
import type { OpenQuestions } from '../../questions/open-questions.ts';
import { Refused } from '../../refusals/refused.ts';
import type {
  RequestKey,
  RequestList,
  RequestPlace,
  RequestProgress,
  RequestQuery,
  RequestStore,
} from '../../store/store.ts';

/** A page of tasks (specification §3.1.4). */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** The query of a ListTasks call: requests of one caller to one agent. */
export function requestQueryOf(request: ListTasksRequest, { owner, agentId }: Tasked): OwnQuery {
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

/**
 * Reads one request more than a page has, to find out whether there is another page. The store does not know which requests wait for
 * an answer; those are running now, so they are few.
 */
export async function listedRequests(
  query: OwnQuery,
  status: TaskState | undefined,
  { requests, questions }: { requests: Pick<RequestStore, 'list'>; questions: Pick<OpenQuestions, 'anywhereOfOwner'> },
): Promise<RequestList> {
  if (status === undefined || !PROGRESS[status].includes('answering')) {
    return requests.list({ ...query, limit: query.limit + 1 });
  }
  const open = await questions.anywhereOfOwner(query.owner);
  const stateOf = ({ requestId }: RequestKey) => {
    const waiting = open.find(({ names }) => names.includes(requestId));
    return waiting === undefined ? 'TASK_STATE_WORKING' : waitingState(waiting.question);
  };
  const all = await requests.list({ ...query, after: undefined, limit: MOST_ANSWERING });
  const later = query.after === undefined ? all : await requests.list({ ...query, limit: MOST_ANSWERING });
  const rows = later.rows.filter((row) => stateOf(row) === status).slice(0, query.limit + 1);
  return { rows, total: all.rows.filter((row) => stateOf(row) === status).length };
}

export function pageTokenOf({ changedAt, requestId }: RequestPlace): string {
  return Buffer.from(`${changedAt} ${requestId}`).toString('base64url');
}

/** The token names a position in the caller's own list, so it needs no signature. */
function placeIn(pageToken: string, owner: string): RequestPlace {
  const [, changedAt, requestId] = /^(\d{1,15}) (.+)$/s.exec(Buffer.from(pageToken, 'base64url').toString()) ?? [];
  if (changedAt !== undefined && requestId !== undefined) return { changedAt: Number(changedAt), owner, requestId };
  const message = 'pageToken must be a nextPageToken of this server';
  throw new Refused(
    failure('invalid_message', { issues: [{ pointer: '/pageToken', code: 'token', message }] }, message),
  );
}

type OwnQuery = RequestQuery & { readonly owner: string };

interface Tasked {
  readonly owner: string;
  readonly agentId: string;
}

const PROGRESS: Readonly<Record<TaskState, readonly RequestProgress[]>> = {
  TASK_STATE_SUBMITTED: ['accepted', 'started'],
  TASK_STATE_WORKING: ['answering'],
  TASK_STATE_INPUT_REQUIRED: ['answering'],
  TASK_STATE_AUTH_REQUIRED: ['answering'],
  TASK_STATE_COMPLETED: ['completed'],
  TASK_STATE_FAILED: ['failed'],
  TASK_STATE_CANCELED: ['cancelled'],
  TASK_STATE_REJECTED: ['refused'],
};

/** The state of a task whose status has no message: such a task can be listed without reading its frames. */
export function stateWithoutFrames(progress: RequestProgress | null): TaskState | undefined {
  return progress === 'completed' || progress === 'refused' ? STATE_AT_END[progress] : undefined;
}

const DEFAULT_PAGE = 50;
/** Higher than the number of requests that are answered at the same time. */
const MOST_ANSWERING = 10_000;

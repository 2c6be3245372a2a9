import { flag, object, record, records, req_id, requiredName, strings, text } from '../fields.ts';
import { answer, type Namespace, request } from '../message-row.ts';

/** The columns of a plan that names none. */
export const DEFAULT_COLUMNS = ['backlog', 'todo', 'in_progress', 'done'] as const;

// Columns are named by the plan, so a `status` is any text.
export const PlanCreateRequest = object({ name: text('default'), columns: strings, description: text('') });
export const PlanCreateResponse = object({ req_id, success: flag(false), plan_id: text(''), columns: strings });
export const PlanListRequest = object({});
export const PlanListResponse = object({ req_id, plans: records });
export const PlanBoardRequest = object({ plan_id: text('') });
export const PlanBoardResponse = object({ req_id, boards: records });

export const TaskAddRequest = object(
  {
    plan_id: requiredName,
    title: requiredName,
    status: text('backlog'),
    description: text(''),
    assignee: text(''),
    deps: strings,
    metadata: record,
  },
  ['plan_id', 'title'],
);
export const TaskAddResponse = object({ req_id, success: flag(false), task_id: text(''), status: text('') });
// An empty status, assignee or list of deps leaves that value unchanged.
export const TaskUpdateRequest = object(
  { plan_id: requiredName, task_id: requiredName, status: text(''), assignee: text(''), deps: strings },
  ['plan_id', 'task_id'],
);
export const TaskUpdateResponse = object({ req_id, success: flag(false), task_id: text('') });
export const TaskListRequest = object({ plan_id: text(''), status: text('') });
export const TaskListResponse = object({ req_id, tasks: records });

/** Requests of this namespace have no `/req`. */
export const planning = {
  capability: 'planning',
  types: {
    'planning/plan/create': request(PlanCreateRequest, 'planning/plan/create/resp', { changes: true }),
    'planning/plan/create/resp': answer(PlanCreateResponse),
    'planning/plan/list': request(PlanListRequest, 'planning/plan/list/resp'),
    'planning/plan/list/resp': answer(PlanListResponse),
    'planning/plan/board': request(PlanBoardRequest, 'planning/plan/board/resp'),
    'planning/plan/board/resp': answer(PlanBoardResponse),
    'planning/task/add': request(TaskAddRequest, 'planning/task/add/resp', { changes: true }),
    'planning/task/add/resp': answer(TaskAddResponse),
    'planning/task/update': request(TaskUpdateRequest, 'planning/task/update/resp', { changes: true }),
    'planning/task/update/resp': answer(TaskUpdateResponse),
    'planning/task/list': request(TaskListRequest, 'planning/task/list/resp'),
    'planning/task/list/resp': answer(TaskListResponse),
  },
} as const satisfies Namespace;

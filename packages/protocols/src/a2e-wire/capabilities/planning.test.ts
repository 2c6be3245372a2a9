import { describeNamespace } from '../namespace.contract.ts';
import { planning } from './planning.ts';

describeNamespace(planning, [
  ['planning/plan/create', {}, { name: 'default', columns: [], description: '' }],
  ['planning/plan/create/resp', {}, { req_id: '', success: false, plan_id: '', columns: [] }],
  ['planning/plan/list', {}, {}],
  ['planning/plan/list/resp', {}, { req_id: '', plans: [] }],
  ['planning/plan/board', {}, { plan_id: '' }],
  ['planning/plan/board/resp', {}, { req_id: '', boards: [] }],
  [
    'planning/task/add',
    { plan_id: 'p', title: 't' },
    { plan_id: 'p', title: 't', status: 'backlog', description: '', assignee: '', deps: [], metadata: {} },
  ],
  ['planning/task/add/resp', {}, { req_id: '', success: false, task_id: '', status: '' }],
  [
    'planning/task/update',
    { plan_id: 'p', task_id: 't' },
    { plan_id: 'p', task_id: 't', status: '', assignee: '', deps: [] },
  ],
  ['planning/task/update/resp', {}, { req_id: '', success: false, task_id: '' }],
  ['planning/task/list', {}, { plan_id: '', status: '' }],
  ['planning/task/list/resp', {}, { req_id: '', tasks: [] }],
]);

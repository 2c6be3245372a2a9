import {
  flag,
  object,
  record,
  recordOrNull,
  records,
  req_id,
  requiredName,
  strings,
  text,
  textOrNull,
} from '../fields.ts';
import { answer, type Namespace, request } from '../message-row.ts';

/** The states that we write. When reading, any text is accepted. */
export const SUBAGENT_STATUSES = ['READY', 'RUNNING', 'COMPLETED', 'FAILED', 'TERMINATED'] as const;

export const SpawnRequest = object(
  {
    name: requiredName,
    role: text(''),
    model: text('default'),
    max_steps: { type: 'integer', minimum: 1, default: 20 },
    metadata: record,
  },
  ['name'],
);
export const SpawnResponse = object({ req_id, subagent_id: text(''), status: text('') });
export const DelegateRequest = object(
  { subagent_id: requiredName, task_name: requiredName, instruction: requiredName, success_criteria: strings },
  ['subagent_id', 'task_name', 'instruction'],
);
export const DelegateResponse = object({ req_id, accepted: flag(true), status: text('') });
export const AwaitRequest = object({ subagent_id: requiredName }, ['subagent_id']);
export const AwaitResponse = object({
  req_id,
  subagent_id: text(''),
  status: text(''),
  result: recordOrNull,
  error: textOrNull,
});
export const ListRequest = object({});
export const ListResponse = object({ req_id, subagents: records });
export const TerminateRequest = object({ subagent_id: requiredName }, ['subagent_id']);
export const TerminateResponse = object({ req_id, success: flag(false), subagent_id: text('') });

/** Requests of this namespace have no `/req`. The older upper-case `SUBAGENT_…` set is not supported. */
export const multiAgent = {
  capability: 'multi_agent',
  types: {
    'multi_agent/spawn': request(SpawnRequest, 'multi_agent/spawn/resp', { changes: true }),
    'multi_agent/spawn/resp': answer(SpawnResponse),
    'multi_agent/delegate': request(DelegateRequest, 'multi_agent/delegate/resp', { changes: true }),
    'multi_agent/delegate/resp': answer(DelegateResponse),
    'multi_agent/await': request(AwaitRequest, 'multi_agent/await/resp'),
    'multi_agent/await/resp': answer(AwaitResponse),
    'multi_agent/list': request(ListRequest, 'multi_agent/list/resp'),
    'multi_agent/list/resp': answer(ListResponse),
    'multi_agent/terminate': request(TerminateRequest, 'multi_agent/terminate/resp', { changes: true }),
    'multi_agent/terminate/resp': answer(TerminateResponse),
  },
} as const satisfies Namespace;

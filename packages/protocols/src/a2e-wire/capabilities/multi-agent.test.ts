import { describeNamespace } from '../namespace.contract.ts';
import { multiAgent } from './multi-agent.ts';

describeNamespace(multiAgent, [
  ['multi_agent/spawn', { name: 'n' }, { name: 'n', role: '', model: 'default', max_steps: 20, metadata: {} }],
  ['multi_agent/spawn/resp', {}, { req_id: '', subagent_id: '', status: '' }],
  [
    'multi_agent/delegate',
    { subagent_id: 's', task_name: 't', instruction: 'i' },
    { subagent_id: 's', task_name: 't', instruction: 'i', success_criteria: [] },
  ],
  ['multi_agent/delegate/resp', {}, { req_id: '', accepted: true, status: '' }],
  ['multi_agent/await', { subagent_id: 's' }, { subagent_id: 's' }],
  ['multi_agent/await/resp', {}, { req_id: '', subagent_id: '', status: '', result: null, error: null }],
  ['multi_agent/list', {}, {}],
  ['multi_agent/list/resp', {}, { req_id: '', subagents: [] }],
  ['multi_agent/terminate', { subagent_id: 's' }, { subagent_id: 's' }],
  ['multi_agent/terminate/resp', {}, { req_id: '', success: false, subagent_id: '' }],
]);

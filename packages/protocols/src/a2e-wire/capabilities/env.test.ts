import { describeNamespace } from '../namespace.contract.ts';
import { env } from './env.ts';

describeNamespace(env, [
  ['env/reset/req', { env_name: 'e' }, { env_name: 'e', spec: {}, seed: null, options: {} }],
  [
    'env/reset/resp',
    { obs: { episode_id: 'p' } },
    {
      obs: { episode_id: 'p', step_num: 0, state: {}, done: false, truncated: false, reward: 0, metadata: {} },
      req_id: '',
    },
  ],
  ['env/step/req', { episode_id: 'p', action: {} }, { episode_id: 'p', action: {} }],
  [
    'env/step/resp',
    { obs: { episode_id: 'p' } },
    {
      obs: { episode_id: 'p', step_num: 0, state: {}, done: false, truncated: false, reward: 0, metadata: {} },
      req_id: '',
    },
  ],
  ['env/observe/req', { episode_id: 'p' }, { episode_id: 'p' }],
  [
    'env/observe/resp',
    { obs: { episode_id: 'p' } },
    {
      obs: { episode_id: 'p', step_num: 0, state: {}, done: false, truncated: false, reward: 0, metadata: {} },
      req_id: '',
    },
  ],
  ['env/close/req', { episode_id: 'p' }, { episode_id: 'p' }],
  ['env/close/resp', {}, { req_id: '', closed: true }],
  ['env/space/req', { env_name: 'e' }, { env_name: 'e' }],
  ['env/space/resp', {}, { req_id: '', action_space: {}, state_schema: {} }],
  ['env/render/req', { episode_id: 'p' }, { episode_id: 'p', mode: 'screenshot' }],
  ['env/render/resp', {}, { req_id: '', render: null }],
  ['env/plan/req', {}, { episode_id: null, state: null }],
  ['env/plan/resp', {}, { req_id: '', suggested_actions: [] }],
  ['env/batch_step/req', { episode_ids: [], actions: [] }, { episode_ids: [], actions: [] }],
  [
    'env/batch_step/resp',
    { results: [{ obs: { episode_id: 'p' } }] },
    {
      req_id: '',
      results: [
        { obs: { episode_id: 'p', step_num: 0, state: {}, done: false, truncated: false, reward: 0, metadata: {} } },
      ],
    },
  ],
  ['env/exp/list/req', {}, { episode_id: '', limit: 100 }],
  ['env/exp/list/resp', {}, { req_id: '', episodes: [] }],
  [
    'env/state/push',
    { episode_id: 'p', step_id: 0, event_type: 'status' },
    {
      episode_id: 'p',
      step_id: 0,
      event_type: 'status',
      action_id: null,
      reason: '',
      delta: {},
      reward: null,
      reward_info: {},
      terminal: false,
    },
  ],
]);

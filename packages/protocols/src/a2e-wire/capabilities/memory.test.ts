import { describeNamespace } from '../namespace.contract.ts';
import { memory } from './memory.ts';

describeNamespace(memory, [
  ['memory/init/req', {}, { namespace: 'default', scope: {}, metadata: {} }],
  ['memory/init/resp', { memory_id: 'm' }, { memory_id: 'm', req_id: '', namespace: 'default', success: true }],
  [
    'memory/store/req',
    { memory_id: 'm', entries: [{ key: {}, content: 1, tier: 'working' }] },
    { memory_id: 'm', entries: [{ key: {}, content: 1, tier: 'working', tags: [], source: '', score: 1, ttl: 0 }] },
  ],
  ['memory/store/resp', {}, { req_id: '', stored: [], errors: [] }],
  [
    'memory/retrieve/req',
    { memory_id: 'm' },
    { memory_id: 'm', keys: [], query: '', tags: [], tier: '', limit: 10, min_score: 0 },
  ],
  ['memory/retrieve/resp', {}, { req_id: '', entries: [], total: 0 }],
  [
    'memory/forget/req',
    { memory_id: 'm', tags: ['old'] },
    { memory_id: 'm', keys: [], tags: ['old'], all: false, tier: 'episodic' },
  ],
  ['memory/forget/resp', {}, { req_id: '', deleted: 0 }],
]);

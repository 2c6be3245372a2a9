import { core } from './message.ts';
import { describeNamespace } from './namespace.contract.ts';

describeNamespace(core, [
  ['handshake/req', {}, { agent_id: '', agent_caps: [], auth_token: '' }],
  [
    'handshake/resp',
    { accepted_caps: [{ capability: 'tools' }] },
    {
      req_id: '',
      session_id: '',
      accepted_caps: [{ capability: 'tools', enabled: true, metadata: {} }],
      max_parallel: 4,
      ok: true,
      reason: '',
    },
  ],
  ['invoke/event', {}, { kind: 'status', req_id: '', data: {}, seq: 0 }],
  ['ping', {}, {}],
  ['pong', {}, { req_id: '', uptime_seconds: 0 }],
  ['shutdown', {}, { timeout: 10 }],
  [
    'error',
    { code: 'timeout' },
    { code: 'timeout', req_id: '', message: '', detail: {}, retryable: false, capability_name: '' },
  ],
]);

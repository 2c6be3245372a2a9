import { describeNamespace } from '../namespace.contract.ts';
import { proc } from './proc.ts';

describeNamespace(proc, [
  ['proc/spawn/req', {}, { session_id: '', cmd: [], cwd: '', env: {}, stdin_mode: 'pipe', timeout: 0 }],
  ['proc/spawn/resp', {}, { req_id: '', proc_id: '', ok: false, pid: 0, error: '' }],
  ['proc/write/req', {}, { proc_id: '', data: '', eof: false }],
  ['proc/write/resp', {}, { req_id: '', proc_id: '', ok: false, pid: 0, error: '' }],
  ['proc/kill/req', {}, { proc_id: '', signal: 'SIGTERM' }],
  ['proc/kill/resp', {}, { req_id: '', ok: false, state: '' }],
  ['proc/status/req', {}, { proc_id: '' }],
  [
    'proc/status/resp',
    { procs: [{ proc_id: 'p', state: 'running' }] },
    {
      req_id: '',
      proc_id: '',
      status: '',
      error: '',
      procs: [{ proc_id: 'p', state: 'running', cmd: '', pid: 0, exit_code: null, started_at: 0 }],
    },
  ],
  ['proc/read/event', {}, { kind: 'status', req_id: '', data: {}, seq: 0, proc_id: '', stream_type: 'stdout' }],
]);

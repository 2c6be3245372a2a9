import {
  type Complete,
  choice,
  count,
  flag,
  integerOrNull,
  object,
  req_id,
  seconds,
  string,
  stringMap,
  strings,
  text,
} from '../fields.ts';
import { EVENT_FIELDS } from '../message.ts';
import { answer, event, type Namespace, request } from '../message-row.ts';

export const STDIN_MODES = ['pipe', 'null'] as const;
export const STREAM_TYPES = ['stdout', 'stderr'] as const;

/**
 * The states that we write. The protocol's page names others (`stopped`, `crashed`) than its code sends, so any text is
 * accepted when reading.
 */
export const PROC_STATES = ['running', 'completed', 'failed', 'killed', 'timedout', 'not_found', 'error'] as const;

/** An entry of `procs`. */
export const ProcStatus = object(
  {
    proc_id: string,
    cmd: text(''),
    state: string,
    pid: count(0),
    exit_code: integerOrNull,
    started_at: { type: 'number', default: 0 },
  },
  ['proc_id', 'state'],
);
export type ProcStatus = Complete<typeof ProcStatus>;

export const ProcSpawnRequest = object({
  session_id: text(''),
  // An array, so that no shell interprets it.
  cmd: strings,
  cwd: text(''),
  env: stringMap,
  stdin_mode: choice(STDIN_MODES, 'pipe'),
  // 0: no limit.
  timeout: seconds(0),
});
export const ProcSpawnResponse = object({ req_id, proc_id: text(''), ok: flag(false), pid: count(0), error: text('') });
export const ProcWriteRequest = object({ proc_id: text(''), data: text(''), eof: flag(false) });
export const ProcWriteResponse = object({ req_id, proc_id: text(''), ok: flag(false), pid: count(0), error: text('') });
export const ProcKillRequest = object({ proc_id: text(''), signal: text('SIGTERM') });
export const ProcKillResponse = object({ req_id, ok: flag(false), state: text('') });
export const ProcStatusRequest = object({ proc_id: text('') });
export const ProcStatusResponse = object({
  req_id,
  proc_id: text(''),
  status: text(''),
  error: text(''),
  // Our addition: an empty `proc_id` asks for all processes.
  procs: { type: 'array', items: ProcStatus, default: [] },
});

/** A line of output, `{text}`, or the end, `{code}`. Pushed: it belongs to a process, not to a request. */
export const ProcReadEvent = object({
  ...EVENT_FIELDS,
  data: { ...object({ text: string, code: { type: ['integer', 'null'] } }), default: {} },
  proc_id: text(''),
  stream_type: choice(STREAM_TYPES, 'stdout'),
});

export const proc = {
  capability: 'proc',
  types: {
    'proc/spawn/req': request(ProcSpawnRequest, 'proc/spawn/resp', { changes: true }),
    'proc/spawn/resp': answer(ProcSpawnResponse),
    'proc/write/req': request(ProcWriteRequest, 'proc/write/resp', { changes: true }),
    'proc/write/resp': answer(ProcWriteResponse),
    'proc/kill/req': request(ProcKillRequest, 'proc/kill/resp', { changes: true }),
    'proc/kill/resp': answer(ProcKillResponse),
    'proc/status/req': request(ProcStatusRequest, 'proc/status/resp'),
    'proc/status/resp': answer(ProcStatusResponse),
    'proc/read/event': event(ProcReadEvent, false),
  },
} as const satisfies Namespace;

import type { Complete } from './fields.ts';
import { choice, count, flag, list, number, object, record, req_id, seconds, string, strings, text } from './fields.ts';
import { answer, event, type Namespace, notice, request } from './message-row.ts';

/** The version that is written, under both names in use. */
export const WIRE_VERSION = '1.0';

/**
 * Field names for the version. The page says `a2e`, the reference implementation sends `version`, and its
 * predecessor SCP, of which A2E is a superset, `skills` or `scp`.
 */
export const STAMPS = ['a2e', 'version', 'skills', 'scp'] as const;

export const LONGEST_ID = 256;

/** The end of the year 9999, in seconds. Milliseconds are far larger. */
export const LATEST_TS = 253402300799;

/** Whether the text is an id. Its length is counted in characters, as the schema does. */
export function isId(text: string): boolean {
  return text !== '' && text.length <= 2 * LONGEST_ID && [...text].length <= LONGEST_ID;
}

/** One to five slash-separated lower-case words: `ping`, `chain/req`, `mcp/server/register/req`. */
export const TYPE_PATTERN = '^[a-z0-9_-]{1,64}(?:/[a-z0-9_-]{1,64}){0,4}$';

/** A2E wire, Base Message Schema. `ts` is always sent and may be missing when read. */
export const WireBaseMessage = {
  ...object(
    {
      a2e: string,
      version: string,
      type: { type: 'string', pattern: TYPE_PATTERN },
      // The page says UUID hex; peers also send short names, so an id is any non-empty text.
      id: { type: 'string', minLength: 1, maxLength: LONGEST_ID },
      ts: { $ref: '#/definitions/epochSeconds' },
    },
    ['type', 'id'],
  ),
  // Referenced, so that the compiler does not repeat the base in each of the hundred types built on it.
  definitions: { epochSeconds: { type: 'number', minimum: 0, maximum: LATEST_TS } },
} as const;

/** A capability the host grants. */
export const AcceptedCapability = object({ capability: string, enabled: flag(true), metadata: record }, ['capability']);
export type AcceptedCapability = Complete<typeof AcceptedCapability>;

export const CAPABILITIES = [
  'skill',
  'tools',
  'toolkits',
  'env',
  'proc',
  'memory',
  'learning',
  'chains',
  'multi_agent',
  'planning',
  'mcp',
  'test',
] as const;

/** Why a handshake is rejected. */
export const REJECTION_REASONS = ['auth_failed', 'version_mismatch', 'no_caps', 'server_error'] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];

export const HandshakeRequest = object({ agent_id: text(''), agent_caps: strings, auth_token: text('') });

export const HandshakeResponse = object({
  req_id,
  session_id: text(''),
  accepted_caps: list(AcceptedCapability),
  max_parallel: { type: 'integer', minimum: 1, default: 4 },
  ok: flag(true),
  reason: text(''),
});

export const EVENT_KINDS = ['progress', 'artifact', 'log', 'status'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** The fields every event has; `data` has the form of its kind in `EVENT_DATA`. */
export const EVENT_FIELDS = { kind: choice(EVENT_KINDS, 'status'), req_id, data: record, seq: count(0) } as const;
export const InvokeEvent = object(EVENT_FIELDS);

/** The data of an event, by kind. Further members are kept. */
export const EVENT_DATA = {
  progress: object({ pct: { type: 'number', minimum: 0, maximum: 100 }, message: string }, ['pct']),
  artifact: object(
    {
      name: string,
      mime: string,
      chunk: { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' },
      final: { type: 'boolean' },
    },
    ['chunk'],
  ),
  log: object({ level: { type: 'string', minLength: 1 }, message: string }, ['message']),
  // The default `data` is empty, so all members of a status are optional.
  status: object({ message: string }),
} as const satisfies Record<EventKind, object>;

export const Ping = object({});
export const Pong = object({ req_id, uptime_seconds: number(0) });

/** `timeout`: the seconds in which the host may finish running requests. */
export const Shutdown = object({ timeout: seconds(10) });

export const WireErrorMessage = object(
  {
    req_id,
    // An open set: `errors.ts` lists the known codes.
    code: { type: 'string', minLength: 1 },
    message: text(''),
    detail: record,
    retryable: flag(false),
    capability_name: text(''),
  },
  ['code'],
);

/** The seven types every connection has (A2E wire, Decoding). */
export const core = {
  capability: undefined,
  types: {
    'handshake/req': request(HandshakeRequest, 'handshake/resp'),
    'handshake/resp': answer(HandshakeResponse),
    'invoke/event': event(InvokeEvent),
    ping: request(Ping, 'pong', { from: 'both' }),
    pong: answer(Pong, 'both'),
    shutdown: notice(Shutdown, 'agent'),
    error: answer(WireErrorMessage, 'both'),
  },
} as const satisfies Namespace;

import { isEmpty } from '../holds-something.ts';
import type { Json, JsonObject } from '../json.ts';
import { encodeUtf8 } from '../platform.ts';
import { clip } from '../validation.ts';
import { isResponse } from './dialect.ts';
import type { E2AEnvelope } from './envelope.ts';
import type { E2AResponse } from './response.ts';
import { redacted, redactedAuth } from './secrets.ts';

export interface LogOptions {
  /** A `body`, `params` or metadata object larger than this is summarised. Default: 4096 bytes. */
  readonly largestPart?: number;
}

/**
 * One record as one line of JSON, safe to write to a log or a terminal (E2A §12.7): secrets are redacted, large parts
 * summarised, and no character in it ends a line or starts an escape sequence.
 */
export function logLine(record: E2AEnvelope | E2AResponse, { largestPart = 4096 }: LogOptions = {}): string {
  const part = (value: JsonObject) => bounded(redacted(value), largestPart);
  const line = isResponse(record) ? responseLine(record, part) : envelopeLine(record, part);
  return JSON.stringify(withoutBlanks(line)).replace(UNSAFE, escaped);
}

/** The six keys that every line has come first, then those that are not empty. */
function responseLine(response: E2AResponse, part: (value: JsonObject) => Json): JsonObject {
  return {
    request_id: response.request_id,
    response_id: response.response_id,
    sequence: response.sequence,
    is_final: response.is_final,
    response_kind: response.response_kind,
    timestamp: response.timestamp,
    status: response.status,
    session_id: response.session_id,
    channel: response.channel,
    method: response.method,
    jsonrpc_id: response.jsonrpc_id,
    correlation_id: response.correlation_id,
    source_protocol: response.provenance.source_protocol,
    body: part(response.body),
    metadata: part(response.metadata),
  };
}

function envelopeLine(envelope: E2AEnvelope, part: (value: JsonObject) => Json): JsonObject {
  return {
    request_id: envelope.request_id,
    timestamp: envelope.timestamp,
    method: envelope.method,
    session_id: envelope.session_id,
    channel: envelope.channel,
    user_id: envelope.user_id,
    source_agent_id: envelope.source_agent_id,
    identity_origin: envelope.identity_origin,
    jsonrpc_id: envelope.jsonrpc_id,
    correlation_id: envelope.correlation_id,
    source_protocol: envelope.provenance.source_protocol,
    is_stream: envelope.is_stream,
    auth: redactedAuth(envelope.auth),
    params: part(envelope.params),
    channel_context: part(envelope.channel_context),
  };
}

function bounded(value: Json, largest: number): Json {
  const bytes = encodeUtf8(JSON.stringify(value)).length;
  if (bytes <= largest) return value;
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const shown = names.slice(0, MOST_NAMES).map((name) => clip(name, LONGEST_NAME));
  return {
    omitted_bytes: bytes,
    members: shown,
    ...(names.length > MOST_NAMES && { more_members: names.length - MOST_NAMES }),
  };
}

/** Leaves out null and empty values, except those of the six keys that readers sort and replay by. */
function withoutBlanks(line: JsonObject): JsonObject {
  const shown = Object.entries(line).filter(([key, value]) => MINIMUM.has(key) || !isEmpty(value));
  // Overlong ids and names must not fill the log.
  const clipped = (value: Json) => (typeof value === 'string' ? clip(value, LONGEST_TEXT) : value);
  return Object.fromEntries(shown.map(([key, value]) => [key, clipped(value)]));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const MINIMUM: ReadonlySet<string> = new Set([
  'request_id',
  'response_id',
  'sequence',
  'is_final',
  'response_kind',
  'timestamp',
]);
const MOST_NAMES = 16;
const LONGEST_NAME = 64;
const LONGEST_TEXT = 1024;
/**
 * Characters that JSON does not escape but terminals interpret: DEL and C1 controls, line separators, direction
 * overrides.
 */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

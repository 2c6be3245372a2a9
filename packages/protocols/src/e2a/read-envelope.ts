import type { DecodeOptions } from '../dialect.ts';
import { hasForbiddenKey } from '../forbidden-key.ts';
import * as validators from '../generated/e2a.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { issuesOf } from '../validation.ts';
import { type E2AAuth, type E2AEnvelope, E2AEnvelopeInput, IDENTITY_ORIGINS, newAuth } from './envelope.ts';
import { dropReservedKeys, LEGACY_ENVELOPE_KEYS, migrateEnvelopeKeys } from './legacy-keys.ts';
import { type E2AProvenance, newProvenance } from './provenance.ts';
import {
  checkVersion,
  isKnownVersion,
  keyRoles,
  misspelt,
  Notes,
  notE2A,
  pick,
  refuseForbiddenKeys,
  unknownKeys,
} from './read-record.ts';
import * as repairs from './repair.ts';
import { hasReservedKey } from './reserved-keys.ts';

/**
 * Reads an envelope and fills in every default. A record in the current form takes one pass of the schema; any other
 * (old keys, nulls, epoch times) takes the tolerant path, which reports each repair and each problem.
 */
export function decodeEnvelope(json: Json, options: DecodeOptions = {}): Outcome<E2AEnvelope> {
  if (!isObject(json) || !(looksLikeEnvelope(json) || isMethodAlone(json))) return reject(notE2A(json));
  const unknown = unknownKeys(json, KEYS);
  if (unknown !== undefined && isInput(json) && needsNoRepair(json)) {
    return unknown.length === 0
      ? accept(envelopeOf(json, {}))
      : accept(envelopeOf(json, pick(json, unknown)), misspelt(json, unknown, KEYS));
  }
  return readTolerantly(json, new Notes(options.lenient));
}

/**
 * Whether the object has a key that only E2A has, or `method` and `params` without the member `jsonrpc` of JSON-RPC.
 */
export function looksLikeEnvelope(json: JsonObject): boolean {
  for (const key of MARKS) if (Object.hasOwn(json, key)) return true;
  return Object.hasOwn(json, 'method') && Object.hasOwn(json, 'params') && !Object.hasOwn(json, 'jsonrpc');
}

/**
 * A method alone is not enough to recognise an envelope by, but it makes a valid one, because params have a default.
 */
function isMethodAlone(json: JsonObject): boolean {
  return Object.hasOwn(json, 'method') && !Object.hasOwn(json, 'jsonrpc');
}

function readTolerantly(json: JsonObject, notes: Notes): Outcome<E2AEnvelope> {
  refuseForbiddenKeys(json, '', notes);
  refuseForbiddenKeys(json['provenance'], '/provenance', notes);
  refuseForbiddenKeys(json['auth'], '/auth', notes);
  const record = new Map(Object.entries(json));
  migrateEnvelopeKeys(record, notes);
  dropReservedKeys(record, 'channel_context', notes);
  repairs.repair(record, REPAIRS, notes);
  checkVersion(record, notes);
  const input = Object.fromEntries(record);
  notes.issues.push(...issuesOf(validators.Envelope, E2AEnvelopeInput, input));
  if (notes.issues.length > 0 || !isInput(input)) return reject(...notes.issues);
  const unknown = Object.keys(input).filter((key) => !KEYS.has(key));
  return accept(envelopeOf(input, pick(input, unknown)), [...notes.warnings, ...misspelt(json, unknown, KEYS)]);
}

/** A valid record: every field may be missing. */
type EnvelopeInput = Partial<Omit<E2AEnvelope, 'extras' | 'provenance' | 'auth'>> & {
  readonly provenance?: Partial<E2AProvenance>;
  readonly auth?: Partial<E2AAuth> | null;
};

function isInput(json: unknown): json is EnvelopeInput {
  return validators.Envelope(json);
}

/** Whether the record also follows the rules beyond the schema. */
function needsNoRepair(input: EnvelopeInput): boolean {
  return (
    isKnownVersion(input.protocol_version) &&
    isTrimmedOrNone(input.agent_id) &&
    isTrimmedOrNone(input.service_id) &&
    isTrimmedOrNone(input.workspace_key) &&
    !(input.provenance !== undefined && hasForbiddenKey(input.provenance)) &&
    !(input.auth && hasForbiddenKey(input.auth)) &&
    !(input.channel_context !== undefined && hasReservedKey(input.channel_context))
  );
}

function isTrimmedOrNone(value: string | null | undefined): boolean {
  return value === undefined || value === null || repairs.isTrimmed(value);
}

function envelopeOf(input: EnvelopeInput, extras: JsonObject): E2AEnvelope {
  return {
    protocol_version: input.protocol_version ?? '1.0',
    provenance: provenanceOf(input.provenance),
    request_id: input.request_id ?? null,
    jsonrpc_id: input.jsonrpc_id ?? null,
    correlation_id: input.correlation_id ?? null,
    task_id: input.task_id ?? null,
    context_id: input.context_id ?? null,
    session_id: input.session_id ?? null,
    message_id: input.message_id ?? null,
    timestamp: input.timestamp ?? null,
    identity_origin: input.identity_origin ?? 'user',
    channel: input.channel ?? null,
    user_id: input.user_id ?? null,
    source_agent_id: input.source_agent_id ?? null,
    chat_id: input.chat_id ?? null,
    agent_ref: input.agent_ref ?? null,
    agent_id: agentIdOf(input),
    service_id: input.service_id ?? null,
    workspace_key: input.workspace_key ?? null,
    method: input.method ?? null,
    params: input.params ?? {},
    ext_method: input.ext_method ?? null,
    session_update_kind: input.session_update_kind ?? null,
    is_stream: input.is_stream ?? false,
    expected_output_modes: input.expected_output_modes ?? [],
    auth: authOf(input.auth),
    channel_context: input.channel_context ?? {},
    a2a_metadata: input.a2a_metadata ?? {},
    acp_meta: input.acp_meta ?? {},
    extras,
  };
}

/** A sender that leaves `agent_id` out means its `source_agent_id`; one that sends null means no agent. */
function agentIdOf({ agent_id, source_agent_id }: EnvelopeInput): string | null {
  if (agent_id !== undefined) return agent_id;
  const source = source_agent_id?.trim() ?? '';
  return source === '' ? null : source;
}

export function provenanceOf(given: Partial<E2AProvenance> | undefined): E2AProvenance {
  if (given === undefined) return newProvenance();
  return isWholeProvenance(given) ? given : newProvenance(given);
}

function isWholeProvenance(given: Partial<E2AProvenance>): given is E2AProvenance {
  return (
    given.source_protocol !== undefined &&
    given.converter !== undefined &&
    given.converted_at !== undefined &&
    given.details !== undefined
  );
}

function authOf(given: Partial<E2AAuth> | null | undefined): E2AAuth | null {
  return given === undefined || given === null ? null : newAuth(given);
}

const FIELDS = Object.keys(E2AEnvelopeInput.properties);
const KEYS = keyRoles(FIELDS, LEGACY_ENVELOPE_KEYS);

const MARKS = [
  'protocol_version',
  'request_id',
  'response_kind',
  'req_method',
  'jsonrpc_id',
  'identity_origin',
  'provenance',
  'channel',
  'channel_id',
];

const { epochSeconds, looseTimestamp, notARecord, nullIsDefault, numberAsText, trimmedText, withoutNulls } = repairs;

const REPAIRS: Readonly<Record<string, readonly repairs.Repair[]>> = {
  protocol_version: [nullIsDefault],
  provenance: [nullIsDefault, notARecord, withoutNulls('source_protocol', 'details')],
  request_id: [numberAsText],
  correlation_id: [numberAsText],
  task_id: [numberAsText],
  context_id: [numberAsText],
  session_id: [numberAsText],
  message_id: [numberAsText],
  timestamp: [epochSeconds, looseTimestamp],
  identity_origin: [nullIsDefault, repairs.oneOf(IDENTITY_ORIGINS)],
  user_id: [numberAsText],
  chat_id: [numberAsText],
  agent_id: [trimmedText],
  service_id: [trimmedText],
  workspace_key: [trimmedText],
  params: [nullIsDefault],
  is_stream: [nullIsDefault],
  expected_output_modes: [nullIsDefault, repairs.oneStringAsList],
  auth: [withoutNulls('extra_headers', '_meta')],
  channel_context: [nullIsDefault],
  a2a_metadata: [nullIsDefault],
  acp_meta: [nullIsDefault],
};

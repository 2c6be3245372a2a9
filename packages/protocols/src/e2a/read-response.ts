import type { DecodeOptions } from '../dialect.ts';
import { hasForbiddenKey } from '../forbidden-key.ts';
import * as validators from '../generated/e2a.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { issuesOf, type Validator } from '../validation.ts';
import { IDENTITY_ORIGINS } from './envelope.ts';
import {
  AGENT_ANSWER_KEYS,
  type AgentAnswer,
  answerOfAgentChunk,
  answerOfAgentResponse,
  isAgentChunk,
  isAgentResponse,
} from './legacy-agent.ts';
import { LEGACY_RESPONSE_KEYS, migrateResponseKeys } from './legacy-keys.ts';
import type { E2AProvenance } from './provenance.ts';
import { provenanceOf } from './read-envelope.ts';
import {
  checkVersion,
  isKnownVersion,
  keyRoles,
  misspelt,
  Notes,
  notE2A,
  type OpenRecord,
  pick,
  refuseForbiddenKeys,
  unknownKeys,
} from './read-record.ts';
import * as repairs from './repair.ts';
import { LEGACY_CHUNK_KEY, LEGACY_RESPONSE_KEY } from './reserved-keys.ts';
import { type E2AResponse, E2AResponseInput, RESPONSE_STATUSES, type ResponseKind } from './response.ts';
import { RESPONSE_BODIES } from './response-body.ts';

/** Reads a frame and fills in every default. The body of a known kind is checked against its schema. */
export function decodeResponse(json: Json, options: DecodeOptions = {}): Outcome<E2AResponse> {
  if (!isObject(json) || !looksLikeResponse(json)) return reject(notE2A(json));
  const unknown = unknownKeys(json, KEYS);
  if (unknown !== undefined && isInput(json) && needsNoRepair(json)) {
    const extras = unknown.length === 0 ? {} : pick(json, unknown);
    return isWhole(json) && unknown.length === 0
      ? accept(responseOf(json, extras))
      : accept(responseOf(json, extras), [...missing(json), ...misspelt(json, unknown, KEYS)]);
  }
  return readTolerantly(json, new Notes(options.lenient));
}

/** Whether the object is a frame: it has a kind or a legacy shape, or no `params` and a field that no request has. */
export function looksLikeResponse(json: JsonObject): boolean {
  if (Object.hasOwn(json, 'response_kind') || isAgentResponse(json) || isAgentChunk(json)) return true;
  return !Object.hasOwn(json, 'params') && ANSWER_MARKS.some((key) => Object.hasOwn(json, key));
}

/** Whether the reference peers would accept the value as a frame: of version 1.0, with a kind, and not an event. */
export function isE2AResponse(json: Json): boolean {
  if (!isObject(json) || json['type'] === 'event' || json['protocol_version'] !== '1.0') return false;
  const kind = json['response_kind'];
  return typeof kind === 'string' && kind.trim() !== '';
}

function readTolerantly(json: JsonObject, notes: Notes): Outcome<E2AResponse> {
  refuseForbiddenKeys(json, '', notes);
  refuseForbiddenKeys(json['provenance'], '/provenance', notes);
  const record = new Map(Object.entries(json));
  const isLegacy = readAgentShape(json, record, notes);
  migrateResponseKeys(record, notes);
  readStashedAnswer(record, notes);
  repairs.repair(record, REPAIRS, notes);
  checkVersion(record, notes);
  const input = Object.fromEntries(record);
  notes.issues.push(...issuesOf(validators.Response, E2AResponseInput, input));
  for (const issue of bodyIssues(record)) notes.judge(issue);
  if (notes.issues.length > 0 || !isInput(input)) return reject(...notes.issues);
  const unknown = Object.keys(input).filter((key) => !KEYS.has(key));
  const silent = isLegacy ? [] : missing(json);
  const warnings = [...notes.warnings, ...silent, ...misspelt(json, unknown, KEYS)];
  return accept(responseOf(input, pick(input, unknown)), warnings);
}

/** Reads a record that is an answer in the format from before E2A; false if it is not one. */
function readAgentShape(json: JsonObject, record: OpenRecord, notes: Notes): boolean {
  const isUnary = isAgentResponse(json);
  if (!isUnary && !isAgentChunk(json)) return false;
  notes.warn({
    pointer: '',
    code: 'legacy_shape',
    message: `this is an answer in the format before E2A (${isUnary ? 'AgentResponse' : 'AgentResponseChunk'})`,
    suggestion: 'send an E2A response, with response_kind and body',
  });
  const answer = isUnary ? answerOfAgentResponse(json, '', notes) : answerOfAgentChunk(json, '', notes);
  for (const key of AGENT_ANSWER_KEYS) record.delete(key);
  put(record, answer);
  return true;
}

/** An answer from before E2A, kept in `metadata` because the body had no place for it. It wins over the body. */
function readStashedAnswer(record: OpenRecord, notes: Notes): void {
  const metadata = record.get('metadata');
  if (!isObject(metadata)) return;
  for (const [key, read] of STASHES) {
    if (!Object.hasOwn(metadata, key)) continue;
    const pointer = pointerTo('/metadata', key);
    const blob = metadata[key];
    record.set('metadata', Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== key)));
    if (!isObject(blob)) {
      notes.warn({ pointer, code: 'reserved_key', message: `${key} is not part of an answer; it was ignored` });
      continue;
    }
    const message = `${key} has the whole answer in a format from before E2A; it was used instead of the body`;
    notes.warn({ pointer, code: 'legacy_key', message, suggestion: 'send it as body' });
    put(record, read(blob, pointer, notes));
    fill(record, 'request_id', blob['request_id']);
    fill(record, 'channel', blob['channel_id']);
    fill(record, 'agent_ref', blob['agent_ref']);
    return;
  }
}

function put(record: OpenRecord, answer: AgentAnswer | undefined): void {
  if (answer === undefined) return;
  record.set('response_kind', answer.response_kind);
  record.set('status', answer.status);
  record.set('is_final', answer.is_final);
  record.set('body', answer.body);
}

function fill(record: OpenRecord, field: string, value: Json | undefined): void {
  if (value !== undefined && (record.get(field) ?? null) === null) record.set(field, value);
}

/** The schema's findings in the body; none for an unknown kind. */
function bodyIssues(record: OpenRecord): Issue[] {
  const kind = record.get('response_kind');
  const body = record.get('body');
  if (typeof kind !== 'string' || !isKnownKind(kind) || (body !== undefined && !isObject(body))) return [];
  const issues = issuesOf(BODY_VALIDATORS[kind], RESPONSE_BODIES[kind], body ?? {});
  return issues.map((issue) => ({ ...issue, pointer: `/body${issue.pointer}` }));
}

function isKnownKind(kind: string): kind is ResponseKind {
  return Object.hasOwn(BODY_VALIDATORS, kind);
}

type ResponseInput = Partial<Omit<E2AResponse, 'extras' | 'provenance'>> & {
  readonly provenance?: Partial<E2AProvenance>;
};

function isInput(json: unknown): json is ResponseInput {
  return validators.Response(json);
}

/** Whether the record also follows the rules beyond its schema. */
function needsNoRepair(input: ResponseInput): boolean {
  const { response_kind: kind, metadata } = input;
  return (
    isKnownVersion(input.protocol_version) &&
    !(input.provenance !== undefined && hasForbiddenKey(input.provenance)) &&
    (metadata === undefined || STASHES.every(([key]) => !Object.hasOwn(metadata, key))) &&
    (kind === undefined || !isKnownKind(kind) || BODY_VALIDATORS[kind](input.body ?? {}))
  );
}

/** E2A §12.4 requires ten fields. For six of them the default may mislead, so using it adds a warning. */
function missing(json: JsonObject): Issue[] {
  return TELLING.filter((field) => !Object.hasOwn(json, field)).map((field) => ({
    pointer: pointerTo('', field),
    code: 'missing_field',
    message: `${field} is required in a response but missing; its default was used`,
  }));
}

function isWhole(json: JsonObject): boolean {
  return TELLING.every((field) => Object.hasOwn(json, field));
}

function responseOf(input: ResponseInput, extras: JsonObject): E2AResponse {
  return {
    protocol_version: input.protocol_version ?? '1.0',
    response_id: input.response_id ?? null,
    request_id: input.request_id ?? null,
    sequence: input.sequence ?? 0,
    is_final: input.is_final ?? false,
    status: input.status ?? 'in_progress',
    response_kind: input.response_kind ?? '',
    timestamp: input.timestamp ?? null,
    provenance: provenanceOf(input.provenance),
    body: input.body ?? {},
    jsonrpc_id: input.jsonrpc_id ?? null,
    correlation_id: input.correlation_id ?? null,
    task_id: input.task_id ?? null,
    context_id: input.context_id ?? null,
    session_id: input.session_id ?? null,
    message_id: input.message_id ?? null,
    is_stream: input.is_stream ?? false,
    identity_origin: input.identity_origin ?? 'agent',
    channel: input.channel ?? null,
    user_id: input.user_id ?? null,
    agent_ref: input.agent_ref ?? null,
    source_agent_id: input.source_agent_id ?? null,
    method: input.method ?? null,
    projections: input.projections ?? {},
    channel_context: input.channel_context ?? {},
    metadata: input.metadata ?? {},
    a2a_metadata: input.a2a_metadata ?? {},
    acp_meta: input.acp_meta ?? {},
    extras,
  };
}

const KEYS = keyRoles(Object.keys(E2AResponseInput.properties), LEGACY_RESPONSE_KEYS);
const ANSWER_MARKS = ['response_id', 'sequence', 'is_final', 'body', 'projections'];
const TELLING = ['request_id', 'sequence', 'is_final', 'status', 'response_kind', 'body'];
const STASHES = [
  [LEGACY_RESPONSE_KEY, answerOfAgentResponse],
  [LEGACY_CHUNK_KEY, answerOfAgentChunk],
] as const;

const BODY_VALIDATORS: Readonly<Record<ResponseKind, Validator>> = {
  'e2a.complete': validators.CompleteBody,
  'e2a.chunk': validators.ChunkBody,
  'e2a.error': validators.ErrorBody,
  'acp.session_update': validators.AcpSessionUpdateBody,
  'acp.prompt_result': validators.AcpPromptResultBody,
  'acp.jsonrpc_error': validators.AcpJsonrpcErrorBody,
  'acp.output_request': validators.AcpOutputRequestBody,
  'a2a.task': validators.A2aTaskBody,
  'a2a.message': validators.A2aMessageBody,
  'a2a.stream_event': validators.A2aStreamEventBody,
  cron: validators.CronBody,
  'plan.approval_required': validators.PlanApprovalBody,
  ext: validators.ExtBody,
};

const { nullIsDefault, numberAsText } = repairs;

const REPAIRS: Readonly<Record<string, readonly repairs.Repair[]>> = {
  protocol_version: [nullIsDefault],
  response_id: [numberAsText],
  request_id: [numberAsText],
  sequence: [nullIsDefault, repairs.looseSequence],
  is_final: [nullIsDefault],
  status: [nullIsDefault, repairs.oneOf(RESPONSE_STATUSES)],
  response_kind: [nullIsDefault],
  timestamp: [repairs.epochSeconds, repairs.looseTimestamp],
  provenance: [nullIsDefault, repairs.notARecord, repairs.withoutNulls('source_protocol', 'details')],
  body: [nullIsDefault],
  correlation_id: [numberAsText],
  task_id: [numberAsText],
  context_id: [numberAsText],
  session_id: [numberAsText],
  message_id: [numberAsText],
  is_stream: [nullIsDefault],
  identity_origin: [nullIsDefault, repairs.oneOf(IDENTITY_ORIGINS)],
  user_id: [numberAsText],
  projections: [nullIsDefault],
  channel_context: [nullIsDefault],
  metadata: [nullIsDefault],
  a2a_metadata: [nullIsDefault],
  acp_meta: [nullIsDefault],
};

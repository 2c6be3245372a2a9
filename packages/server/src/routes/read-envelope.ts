import { type Ids, idFault, type Principal, unreadable } from '@dragoman/core';
import {
  type E2AEnvelope,
  e2aDialect,
  type Failure,
  failure,
  type Issue,
  isObject,
  isResponse,
  type Json,
  type Outcome,
  show,
} from '@dragoman/protocols';

/** The envelope in the received JSON, with the key's owner as its sender, or the failure. */
export function readEnvelope(
  json: Outcome<Json>,
  { principal, now }: { principal: Principal; now: Date },
): ReadEnvelope | Failure {
  if (!json.ok) return unreadable(json.issues);
  const outcome = e2aDialect.decode(json.value, now);
  if (!outcome.ok) return failure('invalid_message', { issues: outcome.issues });
  if (isResponse(outcome.value)) {
    return invalid('', `expected an E2A envelope; got a response of kind ${show(outcome.value.response_kind)}`);
  }
  const issues = [...refusedIds(outcome.value), ...refusedTarget(outcome.value)];
  if (issues.length > 0) return failure('invalid_message', { issues });
  // The key is the identity: the proven caller replaces the sender that the envelope claims.
  const source_agent_id = principal.kind === 'agent' ? principal.id : outcome.value.source_agent_id;
  return { envelope: { ...outcome.value, source_agent_id }, json: json.value };
}

export interface ReadEnvelope {
  readonly envelope: E2AEnvelope;
  readonly json: Json;
}

/** The id of an invalid envelope, by which its sender can match the error. */
export function mentionedId(json: Outcome<Json>): string | null {
  const id = json.ok && isObject(json.value) ? json.value['request_id'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null;
}

/**
 * Gives an envelope an id if it has none: one made from the idempotency key, so that a retry has the same id, or a new
 * one.
 */
export function withRequestId(envelope: E2AEnvelope, ids: Ids, idempotencyKey: string | undefined): E2AEnvelope {
  if (envelope.request_id !== null) return envelope;
  return { ...envelope, request_id: idempotencyKey === undefined ? `req_${ids.sortable()}` : `idem_${idempotencyKey}` };
}

/** Addresses the envelope to the agent in the route. An envelope that names another agent is refused. */
export function withAgent(envelope: E2AEnvelope, agentId: string | undefined): E2AEnvelope | Failure {
  if (agentId === undefined) return envelope;
  const named = envelope.agent_ref?.['id'];
  if (typeof named === 'string' && named !== agentId) {
    return invalid(
      '/agent_ref/id',
      `agent_ref.id must be ${show(agentId)}, as in the path, or left out; got ${show(named)}`,
    );
  }
  return { ...envelope, agent_ref: { ...envelope.agent_ref, id: agentId } };
}

function refusedIds(envelope: E2AEnvelope): Issue[] {
  const issues: Issue[] = [];
  for (const name of ECHOED) {
    const fault = idFault(String(envelope[name] ?? ''));
    if (fault !== undefined) issues.push({ pointer: `/${name}`, code: 'id', message: `${name} ${fault}` });
  }
  // An empty id fits into no path, so the answer could not be read later; and the next envelope without an id would be
  // a repeat.
  if (envelope.request_id === '') {
    const message = 'request_id must not be empty';
    issues.push({ pointer: '/request_id', code: 'id', message, suggestion: 'leave it out, and one is made' });
  }
  return issues;
}

/**
 * Refuses an agent reference without a valid id, which would reach the default agent, and one that is too long, because
 * every frame repeats it.
 */
function refusedTarget({ agent_ref }: E2AEnvelope): Issue[] {
  if (agent_ref === null) return [];
  const id = agent_ref['id'] ?? undefined;
  if (id !== undefined && typeof id !== 'string') {
    return [{ pointer: '/agent_ref/id', code: 'type', message: `agent_ref.id must be a string; got ${show(id)}` }];
  }
  const { length } = JSON.stringify(agent_ref);
  if (length <= LONGEST_AGENT_REF) return [];
  const message = `agent_ref must have at most ${LONGEST_AGENT_REF} characters as JSON; got ${length}`;
  return [{ pointer: '/agent_ref', code: 'too_long', message, suggestion: 'put what the agent needs into params' }];
}

function invalid(pointer: string, message: string): Failure {
  const issue: Issue = { pointer, code: 'contradiction', message };
  return failure('invalid_message', { issues: [issue] });
}

/** The lengths of these fields are limited, because every frame repeats them (E2A §12.4). */
const ECHOED = [
  'request_id',
  'session_id',
  'jsonrpc_id',
  'correlation_id',
  'task_id',
  'context_id',
  'message_id',
  'channel',
  'user_id',
  'method',
] as const;
/** The length of `agent_ref` as JSON, which every frame repeats, too. */
const LONGEST_AGENT_REF = 4096;

import {
  canonicalJson,
  type E2AEnvelope,
  encodeEnvelope,
  type Failure,
  failure,
  type JsonObject,
} from '@dragoman/protocols';
import type { RequestRow } from '../store/store.ts';
import { recordedEnvelope } from './envelope-record.ts';

/**
 * Whether a recorded envelope is the same request, in any order of members. `timestamp`, `provenance` and `expires_at` are
 * ignored, because a retry has new ones; so are secrets, which are not recorded.
 */
export function asksTheSame(recorded: string, envelope: E2AEnvelope): boolean {
  return compared(recordedEnvelope(recorded)) === compared(envelope);
}

function compared(envelope: E2AEnvelope): string {
  const { params, channel_context: hints, agent_ref: agent, provenance } = envelope;
  return canonicalJson({
    ...encodeEnvelope(envelope),
    // The configuration may map an address to another agent by now, so the address that the sender wrote is compared.
    agent_ref: provenance.details['to'] ?? agent,
    // An expiry in `params` is ignored only where the context has the same one; any other is meant for the agent.
    params: params['expires_at'] === hints['expires_at'] ? withoutExpiry(params) : params,
    channel_context: withoutExpiry(hints),
    timestamp: null,
    provenance: null,
    // How the answer is read is not part of the request.
    is_stream: null,
  });
}

function withoutExpiry({ expires_at: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

/**
 * The failure of a request whose id or key another request has used. Its message says "id", because each endpoint names
 * the id differently.
 */
export function conflictWith({ requestId }: RequestRow, envelope: E2AEnvelope): Failure {
  const isKey = requestId !== envelope.request_id;
  const another = isKey ? 'another Idempotency-Key' : 'another id';
  const suggestions = [`send the original body to get its answer, or use ${another} for this request`];
  const message = isKey
    ? `This Idempotency-Key was already used for ${JSON.stringify(requestId)} with a different body.`
    : 'This id was already used with a different body.';
  return failure('conflict', { request_id: requestId, suggestions }, message);
}

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
 * Whether a recorded envelope asks the same, whatever the order of its members. When it was sent, by which way and until
 * when an answer is wanted are left out: a retry has another `timestamp`, `provenance` and `expires_at`, which is reckoned
 * from when it is sent, and is still the same request. So are secrets, which are not recorded. Only a repeat is compared,
 * so nothing has to be computed, nor kept, for the many requests that are none.
 */
export function asksTheSame(recorded: string, envelope: E2AEnvelope): boolean {
  return compared(recordedEnvelope(recorded)) === compared(envelope);
}

function compared(envelope: E2AEnvelope): string {
  const { params, channel_context: hints, agent_ref: agent, provenance } = envelope;
  return canonicalJson({
    ...encodeEnvelope(envelope),
    // Which agent an address means was found in the configuration of the day; what the sender wrote is what is asked.
    agent_ref: provenance.details['to'] ?? agent,
    // An expiry that the envelope has too is the same hint; any other is the agent's own affair, and part of what is asked.
    params: params['expires_at'] === hints['expires_at'] ? withoutExpiry(params) : params,
    channel_context: withoutExpiry(hints),
    timestamp: null,
    provenance: null,
    // How the answer is read is not part of what is asked.
    is_stream: null,
  });
}

function withoutExpiry({ expires_at: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Why a request is not taken whose id, or whose key, was another one's. Every door has its own word for an id. */
export function conflictWith({ requestId }: RequestRow, asked: E2AEnvelope): Failure {
  const isKey = requestId !== asked.request_id;
  const another = isKey ? 'another Idempotency-Key' : 'another id';
  const suggestions = [`repeat the body of then to get the answer of then, or take ${another} for this one`];
  const message = isKey
    ? `This Idempotency-Key was used before, for ${JSON.stringify(requestId)}, which had another body.`
    : 'This id was used before with another body.';
  return failure('conflict', { request_id: requestId, suggestions }, message);
}

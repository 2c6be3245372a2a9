import { hash } from 'node:crypto';
import { canonicalJson, type E2AEnvelope, encodeEnvelope, type JsonObject } from '@dragoman/protocols';

/**
 * What makes two envelopes the same request. When it was sent and by which way are left out: a retry has another
 * `timestamp` and `provenance` and is still the same request. So are secrets, which are not kept to compare with.
 */
export function digestOf(recorded: JsonObject): string {
  return hash('sha256', JSON.stringify(compared(recorded)), 'base64url');
}

/** Whether a recorded envelope asks the same, also when its members come in another order, which the digest cannot see. */
export function asksTheSame(recorded: string, envelope: E2AEnvelope): boolean {
  const [one, other] = [JSON.parse(recorded) as JsonObject, encodeEnvelope(envelope)];
  return canonicalJson(compared(one)) === canonicalJson(compared(other));
}

function compared(encoded: JsonObject): JsonObject {
  return { ...encoded, timestamp: null, provenance: null };
}

import { canonicalJson, type E2AEnvelope, encodeEnvelope, type JsonObject } from '@dragoman/protocols';

/**
 * Whether a recorded envelope asks the same, whatever the order of its members. When it was sent and by which way are left
 * out: a retry has another `timestamp` and `provenance` and is still the same request. So are secrets, which are not
 * recorded. Only a repeat is compared, so nothing has to be computed, nor kept, for the many requests that are none.
 */
export function asksTheSame(recorded: string, envelope: E2AEnvelope): boolean {
  const [one, other] = [JSON.parse(recorded) as JsonObject, encodeEnvelope(envelope)];
  return canonicalJson(compared(one)) === canonicalJson(compared(other));
}

function compared(encoded: JsonObject): JsonObject {
  return { ...encoded, timestamp: null, provenance: null };
}

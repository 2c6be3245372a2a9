import { canonicalJson, type E2AEnvelope, encodeEnvelope } from '@dragoman/protocols';
import { recordedEnvelope } from './envelope-record.ts';

/**
 * Whether a recorded envelope asks the same, whatever the order of its members. When it was sent and by which way are left
 * out: a retry has another `timestamp` and `provenance` and is still the same request. So are secrets, which are not
 * recorded. Only a repeat is compared, so nothing has to be computed, nor kept, for the many requests that are none.
 */
export function asksTheSame(recorded: string, envelope: E2AEnvelope): boolean {
  return compared(recordedEnvelope(recorded)) === compared(envelope);
}

function compared(envelope: E2AEnvelope): string {
  return canonicalJson({ ...encodeEnvelope(envelope), timestamp: null, provenance: null });
}

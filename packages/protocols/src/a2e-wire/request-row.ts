import type { E2AEnvelope } from '../e2a/envelope.ts';
import { isAgentRequest, type KnownType, lookup, rowOf } from './type-map.ts';

/**
 * The type of request that an envelope becomes: the type it was received as, the type its method names, or a tool call
 * for any other method.
 */
export function requestRowOf({ provenance, method }: E2AEnvelope): KnownType {
  const receivedType = provenance.source_protocol === 'a2e-wire' ? provenance.details['type'] : undefined;
  for (const type of [receivedType, method]) {
    const row = typeof type === 'string' ? lookup(type) : undefined;
    if (row !== undefined && isAgentRequest(row)) return row;
  }
  return rowOf('tool/call/req');
}

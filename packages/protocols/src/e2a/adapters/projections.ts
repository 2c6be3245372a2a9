import type { JsonObject } from '../../json.ts';
import type { E2AEnvelope } from '../envelope.ts';
import type { E2AResponse } from '../response.ts';
import { a2aStreamPayloadFor } from './a2a-projection.ts';
import { acpMessagesFor } from './acp-projection.ts';

/**
 * The frame in the request's own protocol, ready for the wire, added to existing projections (E2A §12.1). `acp` is a
 * JSON-RPC notification or response, `a2a` a StreamResponse. They are auxiliary: the body is authoritative.
 */
export function projectionsFor(response: E2AResponse, request: E2AEnvelope): JsonObject {
  const present = response.projections;
  const source = request.provenance.source_protocol;
  if (source !== 'acp' && source !== 'a2a') return present;
  // A connected endpoint converts frames as it sends them, and knows more about its client.
  if (request.provenance.details['endpoint'] !== undefined) return present;
  // The agent's own projection is more precise than a derived one.
  if (Object.hasOwn(present, source)) return present;
  const projection =
    source === 'acp' ? acpMessagesFor(response, request).at(-1) : a2aStreamPayloadFor(response, request);
  return projection === undefined ? present : { ...present, [source]: projection };
}

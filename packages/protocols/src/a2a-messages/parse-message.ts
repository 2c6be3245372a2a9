import { isObject, type Json, parseJson, parseJsonBytes } from '../json.ts';
import type { JsonLimits } from '../json-explain.ts';
import type { Outcome } from '../outcome.ts';

/**
 * The JSON of an A2A message. In a signed message, a number that a double changes is refused: the signature covers the
 * digits that were sent, and exact readers would compute other bytes.
 */
export function parseMessage(source: Uint8Array | string, limits: JsonLimits = {}): Outcome<Json> {
  const exact = parse(source, { ...limits, numbers: 'exact' });
  if (exact.ok || exact.issues[0]?.code !== 'inexact_number') return exact;
  const nearest = parse(source, limits);
  const isSigned = nearest.ok && isObject(nearest.value) && (nearest.value['auth'] ?? null) !== null;
  return isSigned ? exact : nearest;
}

function parse(source: Uint8Array | string, limits: JsonLimits): Outcome<Json> {
  return typeof source === 'string' ? parseJson(source, limits) : parseJsonBytes(source, limits);
}

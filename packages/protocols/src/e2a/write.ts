import { FORBIDDEN_KEYS } from '../forbidden-key.ts';
import type { JsonObject } from '../json.ts';
import { type E2AEnvelope, E2AEnvelopeShape } from './envelope.ts';
import { LEGACY_ENVELOPE_KEYS, LEGACY_RESPONSE_KEYS } from './legacy-keys.ts';
import { type E2AResponse, E2AResponseShape } from './response.ts';

/** The envelope as JSON: every field, including nulls, then the extras, which never replace a field. */
export function encodeEnvelope(envelope: E2AEnvelope): JsonObject {
  return withExtras(envelope, NOT_ENVELOPE_EXTRAS);
}

export function encodeResponse(response: E2AResponse): JsonObject {
  return withExtras(response, NOT_RESPONSE_EXTRAS);
}

function withExtras(record: E2AEnvelope | E2AResponse, taken: ReadonlySet<string>): JsonObject {
  const { extras, ...fields } = record;
  const names = Object.keys(extras);
  if (names.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(Object.entries(extras).filter(([name]) => !taken.has(name))) };
}

// An extra under a legacy or forbidden name would be read with another meaning.
const NOT_ENVELOPE_EXTRAS: ReadonlySet<string> = new Set([
  ...Object.keys(E2AEnvelopeShape.properties),
  ...LEGACY_ENVELOPE_KEYS,
  ...FORBIDDEN_KEYS,
  'response_kind',
]);

const NOT_RESPONSE_EXTRAS: ReadonlySet<string> = new Set([
  ...Object.keys(E2AResponseShape.properties),
  ...LEGACY_RESPONSE_KEYS,
  ...FORBIDDEN_KEYS,
]);

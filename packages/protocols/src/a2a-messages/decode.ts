import type { DecodeOptions } from '../dialect.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Outcome } from '../outcome.ts';
import { explainMessage } from './explain.ts';
import { adviceOn, messageFaults } from './faults.ts';
import { kindOf } from './kinds.ts';
import { tolerate } from './lenient.ts';
import type { A2AMessage } from './message.ts';

/** Reads a message of any type: its schema, and the rules beyond it. `checkFreshness` checks its times. */
export function decodeMessage(json: Json, options: DecodeOptions = {}): Outcome<A2AMessage> {
  const strict = decodeStrict(json);
  if (strict.ok || options.lenient !== true) return strict;
  const { json: read, warnings } = tolerate(json);
  if (warnings.length === 0) return strict;
  const again = decodeStrict(read);
  return again.ok ? accept(again.value, [...warnings, ...again.warnings]) : again;
}

function decodeStrict(json: Json): Outcome<A2AMessage> {
  if (!isObject(json)) return { ok: false, issues: explainMessage(json) };
  const faults = messageFaults(json);
  if (kindOf(json)?.validate(json) !== true) return { ok: false, issues: [...explainMessage(json), ...faults] };
  if (faults.length > 0) return { ok: false, issues: faults };
  const message = messageFrom(json);
  return accept(message, adviceOn(message));
}

/**
 * The validated message, always with `correlation_id`: absent and null are equal. The schemas are closed, so
 * a valid object has no other members and needs no copy.
 */
function messageFrom(json: JsonObject): A2AMessage {
  return (json['correlation_id'] === undefined ? { ...json, correlation_id: null } : json) as A2AMessage;
}

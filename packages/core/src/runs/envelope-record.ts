import { type E2AEnvelope, encodeEnvelope, type Json, type JsonObject, newEnvelope } from '@dragoman/protocols';
import { isEmpty } from '../is-empty.ts';

/**
 * An envelope as it is recorded: without its secrets, and without the two thirds of its fields that say what an envelope
 * says that does not mention them. Every request is written, so this is a third less for the disk to take.
 */
export function envelopeRecord(envelope: E2AEnvelope): string {
  if (!isEmpty(envelope.extras)) return JSON.stringify(encodeEnvelope(envelope));
  const told: Record<string, Json> = {};
  for (const name of FIELDS) {
    const value = envelope[name];
    if (value !== null && value !== UNSAID[name] && !saysNothing(name, value)) told[name] = value;
  }
  return JSON.stringify(told);
}

/** The envelope of a record. We wrote it, so nothing is checked again. */
export function recordedEnvelope(record: string): E2AEnvelope {
  return newEnvelope(JSON.parse(record));
}

function saysNothing(name: Field, value: Json): boolean {
  if (typeof value !== 'object') return false;
  if (name === 'provenance') return isUnsaidProvenance(value as JsonObject);
  // Nothing about an agent, or a way to prove oneself, is not the same as none.
  return name !== 'agent_ref' && name !== 'auth' && isEmpty(value as JsonObject);
}

function isUnsaidProvenance(provenance: JsonObject): boolean {
  for (const name in provenance) {
    const value = provenance[name];
    if (name === 'details' ? !isEmpty(value as JsonObject) : value !== UNSAID_PROVENANCE[name]) return false;
  }
  return true;
}

type Field = Exclude<keyof E2AEnvelope, 'extras'>;
const UNSAID: Readonly<Record<Field, Json>> = encodeEnvelope(newEnvelope()) as Record<Field, Json>;
const UNSAID_PROVENANCE: JsonObject = newEnvelope().provenance;
const FIELDS = Object.keys(UNSAID) as Field[];

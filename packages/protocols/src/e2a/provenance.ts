import { OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';

/** The origin of a message, and what converted it (E2A §4.2). */
export const E2AProvenance = {
  type: 'object',
  required: ['source_protocol', 'converter', 'converted_at', 'details'],
  properties: {
    // An open set: ours are in `SOURCE_PROTOCOLS`, a peer may name others.
    source_protocol: { type: 'string', minLength: 1, description: 'The protocol of the original message.' },
    converter: { type: ['string', 'null'], description: 'The program that converted it.' },
    converted_at: { type: ['string', 'null'], description: 'When it was converted.' },
    details: { ...OpaqueObject, description: 'What the protocol adds.' },
  },
} as const;
export type E2AProvenance = Static<typeof E2AProvenance>;

export const SOURCE_PROTOCOLS = [
  'e2a',
  'acp',
  'a2a',
  'a2a-messages',
  'a2a-mailbox',
  'a2e-wire',
  'a2e-workflow',
  'mcp',
  'openai',
] as const;

export function newProvenance(given: Partial<E2AProvenance> = {}): E2AProvenance {
  return { source_protocol: 'e2a', converter: null, converted_at: null, details: {}, ...given };
}

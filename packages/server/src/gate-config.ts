import { readFileSync } from 'node:fs';
import { type Clock, decodeHostPort, type HostPort, type Log, type NetworkGate, openGate } from '@dragoman/core';
import type { Static } from '@dragoman/protocols';

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

/** `gate:` of the configuration. */
export const GateShape = {
  type: 'object',
  description: 'The way out to the network.',
  properties: {
    allow: { ...texts, description: 'Private or plain-http hosts that may be called, by name and port.' },
    ca: { ...texts, description: 'Files with certificates to trust beside the usual ones, as PEM.' },
  },
  additionalProperties: false,
} as const;

/** The way out, as configured. Throws when a host or a file cannot be read. */
export function gateOf(config: Static<typeof GateShape> = {}, { clock, log }: { clock: Clock; log: Log }): NetworkGate {
  const allow = (config.allow ?? []).map(hostPortOf);
  const ca = (config.ca ?? []).map((path) => readFileSync(path, 'utf8'));
  return openGate({ clock, log, allow, ca });
}

function hostPortOf(text: string, index: number): HostPort {
  const read = decodeHostPort(text, `/gate/allow/${index}`);
  if (read.ok) return read.value;
  throw new Error(read.issues.map(({ message }) => message).join('; '));
}

import type { E2AEnvelope } from '@dragoman/protocols';

/** The agent an envelope names; `undefined` when it names none and the default agent is meant. */
export function targetOf(envelope: E2AEnvelope): string | undefined {
  const id = envelope.agent_ref?.['id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

import type { E2AEnvelope } from '@dragoman/protocols';

/** The agent an envelope names; `undefined` when it names none and the default agent is meant. */
export function targetOf(envelope: E2AEnvelope): string | undefined {
  const id = envelope.agent_ref?.['id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/**
 * The targets that every server has beside its agents. Each decides by itself what a caller may use:
 * `permissions.agents` does not apply to them. No agent can take one of these ids.
 */
export const BUILT_IN_TARGETS = ['tools', 'workflows', 'agents'] as const;
export type BuiltInTarget = (typeof BUILT_IN_TARGETS)[number];

export function isBuiltIn(id: string | undefined): id is BuiltInTarget {
  return id !== undefined && IDS.has(id);
}

const IDS: ReadonlySet<string> = new Set(BUILT_IN_TARGETS);

/**
 * The targets that every server has beside its agents. Each decides by itself what a caller may use: `permissions.agents` does
 * not apply to them. No agent can take one of these ids.
 */
export const BUILT_IN_TARGETS = ['tools', 'workflows', 'agents'] as const;
export type BuiltInTarget = (typeof BUILT_IN_TARGETS)[number];

export function isBuiltIn(id: string | undefined): id is BuiltInTarget {
  return id !== undefined && IDS.has(id);
}

const IDS: ReadonlySet<string> = new Set(BUILT_IN_TARGETS);

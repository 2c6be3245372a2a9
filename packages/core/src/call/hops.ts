import type { E2AEnvelope } from '@dragoman/protocols';

/** Workflows that run workflows, and agents in between, come to an end. */
export const MOST_HOPS = 8;

export const TOO_MANY_HOPS = `Workflows and agents call each other more than ${MOST_HOPS} levels deep.`;

/**
 * How many workflows and agents stand between the first caller and this request. The hub sets it where a workflow or an agent asks; a
 * caller that sets it only lowers its own limit.
 */
export function hopsOf({ channel_context: { hops } }: Pick<E2AEnvelope, 'channel_context'>): number {
  return typeof hops === 'number' && hops > 0 ? hops : 0;
}

import type { E2AEnvelope } from '@dragoman/protocols';

/** Limits the depth of workflows and agents that call each other, so that they cannot do so endlessly. */
export const MOST_HOPS = 8;

export const TOO_MANY_HOPS = `Workflows and agents call each other more than ${MOST_HOPS} levels deep.`;

/**
 * How many workflows and agents stand between the first caller and this request. The hub sets it where a workflow or an
 * agent asks; a caller that sets it only lowers its own limit.
 */
export function hopsOf({ channel_context: { hops } }: Pick<E2AEnvelope, 'channel_context'>): number {
  return typeof hops === 'number' && hops > 0 ? hops : 0;
}

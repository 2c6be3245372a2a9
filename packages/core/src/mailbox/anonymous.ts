import { NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { ANONYMOUS } from '../store/anonymous.ts';

/**
 * The owner id of a sender without a key, from its address and name. A sender at another address cannot claim it, and
 * it contains blanks, so it is never the id of an agent.
 */
export function anonymousOwner(addressGroup: string, name: string): string {
  return `${anonymousPrefix(addressGroup)}${name}`;
}

/** The common prefix of the owners at one address. */
export function anonymousPrefix(addressGroup: string): string {
  return `${ANONYMOUS}${addressGroup} `;
}

/** The principal of a sender without a key, which may only write to these agents. */
export function anonymousPrincipal(owner: string, agents: readonly string[]): Principal {
  return { id: owner, kind: 'anonymous', permissions: { ...NO_PERMISSIONS, agents } };
}

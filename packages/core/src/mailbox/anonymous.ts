import { NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { ANONYMOUS } from '../store/anonymous.ts';

/**
 * A sender without a key: a name, as seen from one address. A sender at another address cannot claim to be it, and with the
 * blanks in it it is no agent's id.
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

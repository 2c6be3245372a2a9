import { NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { ANONYMOUS } from '../store/anonymous.ts';

/**
 * A sender without a key: a name, as seen from one address. Nobody else can be it by saying so from elsewhere, and with the
 * blanks in it it is no agent's id.
 */
export function anonymousOwner(addressGroup: string, name: string): string {
  return `${anonymousPrefix(addressGroup)}${name}`;
}

/** What the owners at one address have in common. */
export function anonymousPrefix(addressGroup: string): string {
  return `${ANONYMOUS}${addressGroup} `;
}

/** What somebody without a key may do: write to these agents. */
export function anonymousPrincipal(owner: string, agents: readonly string[]): Principal {
  return { id: owner, kind: 'anonymous', permissions: { ...NO_PERMISSIONS, agents } };
}

import type { Router } from '../agents/router.ts';
import type { Check } from '../call/handler.ts';
import { allows } from '../call/principal.ts';
import { targetOf } from '../call/target.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import { claimedIdentities } from '../runs/claimed-identities.ts';
import { concernsAgent } from '../server-methods/server-methods.ts';

/** Allows what the caller's permissions name. An empty list allows nothing. */
export function permit(router: Router): Check {
  return (next) => (envelope, call) => {
    const { principal } = call;
    // Checked before the router looks for the agent, so that the refusal does not show whether the agent exists.
    const target = targetOf(envelope) ?? (concernsAgent(envelope.method) ? router.defaultAgent : undefined);
    const own = target === undefined ? undefined : router.find(target)?.refusal;
    if (own !== undefined) {
      const refused = own(envelope, principal);
      if (refused !== undefined) throw new Refused(refused);
    } else if (target !== undefined && !allows(principal.permissions.agents, target)) {
      refuse('forbidden', {
        suggestions: [`ask the operator to add ${JSON.stringify(target)} to permissions.agents`],
      });
    }
    for (const operation of claimedIdentities(envelope, principal.id)) {
      if (allows(principal.permissions.operations, operation)) continue;
      const without =
        operation === 'identity.user'
          ? 'leave user_id out or send your own id'
          : 'send identity_origin "agent" or "user"';
      refuse('forbidden', {
        suggestions: [`${without}, or ask the operator to add ${JSON.stringify(operation)} to permissions.operations`],
      });
    }
    return next(envelope, call);
  };
}

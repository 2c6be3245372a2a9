import { concernsAgent } from '../gateway/gateway.ts';
import type { Layer } from '../handler.ts';
import { allows } from '../principal.ts';
import { Refused, refuse } from '../refused.ts';
import type { Router } from '../router.ts';
import { targetOf } from '../target.ts';

/** Lets through what the caller's permissions name. An empty list lets nothing through. */
export function permit(router: Router): Layer {
  return (next) => (envelope, call) => {
    const { principal } = call;
    // Asked before the router says whether there is such an agent: who may not call it may not learn of it either.
    const target = targetOf(envelope) ?? (concernsAgent(envelope.method) ? router.defaultAgent : undefined);
    const own = target === undefined ? undefined : router.find(target)?.refusal;
    if (own !== undefined) {
      const refused = own(envelope, principal);
      if (refused !== undefined) throw new Refused(refused);
    } else if (target !== undefined && !allows(principal.permissions.agents, target)) {
      refuse('forbidden', {
        suggestions: [`ask the operator for permissions.agents to include ${JSON.stringify(target)}`],
      });
    }
    // Speaking as the system or a service is a claim about who is behind the request; a key alone does not prove it.
    const origin = envelope.identity_origin;
    if (
      (origin === 'system' || origin === 'service') &&
      !allows(principal.permissions.operations, `identity.${origin}`)
    ) {
      refuse('forbidden', {
        suggestions: [`send identity_origin "agent" or "user", or ask for the operation identity.${origin}`],
      });
    }
    return next(envelope, call);
  };
}

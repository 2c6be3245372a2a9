import { type E2AEnvelope, parseTimestamp } from '@dragoman/protocols';
import type { Router } from '../agents/router.ts';
import type { Call } from '../call/call.ts';
import type { Handler } from '../call/handler.ts';
import { Refused } from '../refusals/refused.ts';
import type { Reading } from '../runs/reading.ts';
import type { Runs } from '../runs/runs.ts';
import { isForAgent } from '../server-methods/server-methods.ts';

/**
 * Records the request before it is answered, and every frame before a reader receives it. A repeat gets the recorded
 * answer.
 */
export function journal({ runs, router }: { runs: Runs; router: Router }): (next: Handler) => Handler<Reading> {
  return (next) => (envelope, call) => {
    const hints = envelope.channel_context;
    const expires = hints['expires_at'];
    // The server's own methods need no slot of an agent and belong to no conversation.
    const forAgent = router.isForOwnTarget(envelope) || isForAgent(envelope.method);
    const agentId = forAgent ? routed(envelope, call, router) : SERVER;
    if (typeof agentId !== 'string') return runs.reopen(envelope, call, agentId);
    const admission = {
      agentId,
      // Requests of anonymous senders belong to no conversation either, because their session id may be that of another
      // caller: pushes of the agent would reach neither.
      sessionId: forAgent && call.principal.kind !== 'anonymous' ? envelope.session_id : null,
      priority: priorityOf(hints['priority']),
      endsUnread: hints['cancel_on_disconnect'] === true,
      expiresAt: (typeof expires === 'string' ? parseTimestamp(expires) : undefined) ?? call.beside?.holdUntil ?? null,
    };
    return runs.open(envelope, call, admission, next);
  };
}

/** The agent that the envelope goes to, or why there is none. It may still repeat a request whose agent was removed. */
function routed(envelope: E2AEnvelope, { principal }: Call, router: Router): string | Refused {
  try {
    return router.resolve(envelope, principal);
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** The agent id of requests that the server answers by itself. No agent can have this id. */
export const SERVER = '*server';

/** The number of a priority; any unknown word means normal. */
export function priorityOf(word: unknown): number {
  return PRIORITIES.get(word) ?? 1;
}

/** A map, because a caller chooses the word: `constructor` is not a priority. */
const PRIORITIES: ReadonlyMap<unknown, number> = new Map([
  ['urgent', 0],
  ['normal', 1],
  ['low', 2],
]);

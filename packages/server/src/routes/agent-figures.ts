import type { Engine } from '@dragoman/core';

/** Requests of an agent, since the start and now, and whether it answers. */
interface AgentFigures {
  readonly agent: string;
  readonly accepted: number;
  readonly failed: number;
  readonly running: number;
  readonly waiting: number;
  readonly health: AgentHealth;
}

/**
 * `away`: the agent connects to the server by itself, and is not connected. `failing`: its last three requests or more
 * got no answer. `none`: the agent only calls, and answers no requests.
 */
export type AgentHealth = 'ok' | 'away' | 'failing' | 'none';

export function agentFigures({ runs, router }: Engine): (agent: string) => Promise<AgentFigures> {
  const loads = runs.loads();
  return async (agent) => {
    const { accepted, failed, unanswered } = runs.table.counts.byAgent.get(agent) ?? NO_COUNTS;
    const { running, waiting } = loads.get(agent) ?? { running: 0, waiting: 0 };
    const target = router.find(agent);
    const isAway = target?.whenReachable?.() !== undefined && (await runs.lineOf(agent)) === undefined;
    const isFailing = unanswered >= MOST_UNANSWERED;
    const health = target === undefined ? 'none' : isAway ? 'away' : isFailing ? 'failing' : 'ok';
    return { agent, accepted, failed, running, waiting, health };
  };
}

/** The agents that do not answer. */
export async function agentsDown(engine: Engine): Promise<{ readonly agent: string; readonly health: AgentHealth }[]> {
  const figuresOf = agentFigures(engine);
  const down: { agent: string; health: AgentHealth }[] = [];
  for (const id of engine.router.ids()) {
    const { agent, health } = await figuresOf(id);
    if (health !== 'ok') down.push({ agent, health });
    if (down.length === MOST_DOWN) break;
  }
  return down;
}

const NO_COUNTS = { accepted: 0, failed: 0, unanswered: 0 };
const MOST_UNANSWERED = 3;
const MOST_DOWN = 100;

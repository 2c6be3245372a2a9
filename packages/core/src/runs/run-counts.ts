import { type E2AResponse, FAILURES, type Failure, SOURCE_PROTOCOLS } from '@dragoman/protocols';
import type { RunKind } from './active-run.ts';

/** Requests of one agent since the start. */
export interface AgentCounts {
  accepted: number;
  failed: number;
  /** How many requests in a row, up to the last one, the agent did not answer because it failed or took too long. */
  unanswered: number;
}

/** How many runs and frames there were since the start: numbers only, without their owners. */
export class RunCounts {
  /** Recorded frames. */
  frames = 0;
  /** Accepted runs, without repeats. */
  readonly accepted: Record<RunKind, number> = { execution: 0, request: 0, tool: 0 };
  /** Ended runs, by outcome. */
  readonly #finished: Record<RunKind, Map<string, number>> = {
    execution: new Map(),
    request: new Map(),
    tool: new Map(),
  };

  /** Accepted requests by their protocol. Peers may name any; unknown ones are `other`. */
  readonly byProtocol = new Map<string, number>();
  /** By the id of the agent. The first thousand agents have counts of their own; all further ones are `other`. */
  readonly byAgent = new Map<string, AgentCounts>();

  acceptRequest({ protocol, agentId }: { readonly protocol: string; readonly agentId: string }): void {
    this.accepted.request += 1;
    const name = PROTOCOLS.has(protocol) ? protocol : OTHER;
    this.byProtocol.set(name, (this.byProtocol.get(name) ?? 0) + 1);
    this.#ofAgent(agentId).accepted += 1;
  }

  finishRequest(outcome: string, agentId: string): void {
    this.finish('request', outcome);
    const counts = this.#ofAgent(agentId);
    if (outcome !== SUCCEEDED) counts.failed += 1;
    if (UNANSWERED.has(outcome)) counts.unanswered += 1;
    // An error that the agent itself reports is an answer. A cancelled or refused request says nothing about the agent.
    else if (outcome === SUCCEEDED || outcome === FAILED) counts.unanswered = 0;
  }

  #ofAgent(agentId: string): AgentCounts {
    const name = this.byAgent.has(agentId) || this.byAgent.size < MOST_AGENTS ? agentId : OTHER;
    const known = this.byAgent.get(name);
    if (known !== undefined) return known;
    const counts = { accepted: 0, failed: 0, unanswered: 0 };
    this.byAgent.set(name, counts);
    return counts;
  }

  finish(kind: RunKind, outcome: string): void {
    const finished = this.#finished[kind];
    finished.set(outcome, (finished.get(outcome) ?? 0) + 1);
  }

  finished(kind: RunKind): ReadonlyMap<string, number> {
    return this.#finished[kind];
  }
}

/** `succeeded`, or the E2A code of the failure. Codes that agents make up all count as `failed`. */
export function outcomeOfFrame({ status, body }: E2AResponse): string {
  if (status !== 'failed') return SUCCEEDED;
  const code = body['code'];
  return typeof code === 'string' && OUR_CODES.has(code) ? code : FAILED;
}

export function outcomeOfFailure(known: Failure | undefined): string {
  return known === undefined ? FAILED : FAILURES[known.code].e2a;
}

export const SUCCEEDED = 'succeeded';
export const FAILED = 'failed';
const OTHER = 'other';
const MOST_AGENTS = 1000;
const PROTOCOLS: ReadonlySet<string> = new Set(SOURCE_PROTOCOLS);
const UNANSWERED: ReadonlySet<string> = new Set([FAILURES.agent_failed.e2a, FAILURES.timeout.e2a]);
const OUR_CODES: ReadonlySet<string> = new Set(Object.values(FAILURES).map((row) => row.e2a));

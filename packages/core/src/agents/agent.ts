import {
  type E2AEnvelope,
  type E2AResponse,
  type Failure,
  type FailureDetails,
  failure,
  type Json,
} from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import type { Principal } from '../call/principal.ts';

/** One part of an agent's answer. */
export type AgentPart =
  | { readonly part: 'chunk'; readonly body: E2AResponse['body'] }
  /** A frame that the agent wrote: its kind, body and end are kept; the server sets number, ids and time. */
  | { readonly part: 'frame'; readonly frame: Partial<E2AResponse> }
  | { readonly part: 'complete'; readonly result: Json }
  /** An error, in the agent's own words. */
  | {
      readonly part: 'error';
      readonly code: string;
      readonly message: string;
      readonly details?: Json;
      /** Seconds to wait before trying again. */
      readonly retry_after?: number;
      readonly documentation_url?: string;
    }
  /** A failure of the agent, reported by this server: it could not be reached, or it broke the rules. */
  | { readonly part: 'failure'; readonly failure: Failure };

/** Anything that answers envelopes, over any driver. */
export interface Agent extends AsyncDisposable {
  readonly id: string;
  /** The agent registered itself; the operator has not configured it. */
  readonly isForeign?: true;
  /** A client may name MCP servers for its session with this agent. */
  readonly takesMcpServers?: true | undefined;
  answer(envelope: E2AEnvelope, call: Call): AsyncIterable<AgentPart>;
  /** Resolves when the agent is reachable; `undefined` when it is reachable now. Absent if it always is. */
  whenReachable?(): Promise<void> | undefined;
  /**
   * A key of the event that a frame reports. Present where the agent gives the same answer again after a restart: frames whose key is
   * already recorded are then left out.
   */
  frameKey?(frame: E2AResponse): string;
  /** Removes the agent's data for sessions that are no longer recorded. */
  tidy?(): Promise<void>;
  /**
   * Why this caller may not send this request; `undefined` when it may. Only the server's own targets have this method: they check
   * other permissions than `permissions.agents`, and they handle every method sent to them.
   */
  refusal?(envelope: E2AEnvelope, principal: Principal): Failure | undefined;
}

/** The part that ends an answer with a failure of the agent. */
export function agentFailed(message: string, details: FailureDetails = {}): Extract<AgentPart, { part: 'failure' }> {
  return { part: 'failure', failure: failure('agent_failed', details, message) };
}

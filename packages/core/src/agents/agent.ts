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

/** One thing an agent says while it answers. */
export type AgentPart =
  | { readonly part: 'chunk'; readonly body: E2AResponse['body'] }
  /** A frame of the agent's own making: its kind, body and end count; number, ids and time are ours. */
  | { readonly part: 'frame'; readonly frame: Partial<E2AResponse> }
  | { readonly part: 'complete'; readonly result: Json }
  /** What went wrong, in the agent's own words. */
  | {
      readonly part: 'error';
      readonly code: string;
      readonly message: string;
      readonly details?: Json;
      /** Seconds to wait before trying again. */
      readonly retry_after?: number;
      readonly documentation_url?: string;
    }
  /** What went wrong with the agent, in ours: it could not be reached, or it broke the rules. */
  | { readonly part: 'failure'; readonly failure: Failure };

/** Anything that answers envelopes, by whatever way it is reached. */
export interface Agent extends AsyncDisposable {
  readonly id: string;
  /** It registered itself: the operator has not chosen it. */
  readonly isForeign?: true;
  /** Its sessions may have MCP servers that their client names. */
  readonly takesMcpServers?: true | undefined;
  answer(envelope: E2AEnvelope, call: Call): AsyncIterable<AgentPart>;
  /** Resolves when an agent that is away can be asked; `undefined` when it can be now. Absent where it always can. */
  whenReachable?(): Promise<void> | undefined;
  /**
   * What a frame of its answer reports. Present where an answer can be given again after a restart, with the same frames: those that are
   * recorded already, by this key, are left out then.
   */
  frameKey?(frame: E2AResponse): string;
  /**
   * Why this caller may not have this answered; `undefined` when it may. Only the server's own targets have it: they decide by other
   * permissions than `permissions.agents`, and every method sent to them is theirs.
   */
  refusal?(envelope: E2AEnvelope, principal: Principal): Failure | undefined;
}

/** The part that ends an answer because the agent failed. */
export function agentFailed(message: string, details: FailureDetails = {}): Extract<AgentPart, { part: 'failure' }> {
  return { part: 'failure', failure: failure('agent_failed', details, message) };
}

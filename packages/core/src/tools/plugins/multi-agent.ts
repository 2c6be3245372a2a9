import type { JsonObject } from '@dragoman/protocols';
import { isMessage, type MessageOf, type SUBAGENT_STATUSES } from '@dragoman/protocols/a2e-wire';
import type { Principal } from '../../call/principal.ts';
import type { Answered, WirePlugin } from '../wire/plugin.ts';

/** Agents of the server that work for a caller, each in its own session. */
export interface Subagents {
  spawn(principal: Principal, request: MessageOf<'multi_agent/spawn'>): Promise<Subagent>;
  /** Resolves when the request is recorded. */
  delegate(principal: Principal, request: MessageOf<'multi_agent/delegate'>): Promise<Subagent>;
  /** Resolves when the subagent has no running request. */
  await(principal: Principal, subagentId: string, signal: AbortSignal): Promise<SubagentResult>;
  list(principal: Principal): Promise<Subagent[]>;
  terminate(principal: Principal, subagentId: string): Promise<void>;
}

export interface Subagent {
  readonly subagent_id: string;
  /** The id of the server's agent. */
  readonly name: string;
  readonly role: string;
  readonly session_id: string;
  readonly status: (typeof SUBAGENT_STATUSES)[number];
  /** The last delegated request; empty before the first. */
  readonly request_id: string;
  readonly task_name: string;
}

export interface SubagentResult {
  readonly status: Subagent['status'];
  readonly result: JsonObject | null;
  readonly error: string | null;
}

/**
 * `multi_agent/*`: agents of the server as subagents. Delegated work is a request to the hub, like any other of the
 * caller.
 */
export function multiAgentPlugin(subagents: Subagents): WirePlugin {
  return {
    name: 'multi_agent',
    capability: 'multi_agent',
    messages: [
      'multi_agent/spawn',
      'multi_agent/delegate',
      'multi_agent/await',
      'multi_agent/list',
      'multi_agent/terminate',
    ],
    async handle(message, { session: { principal }, signal }): Promise<Answered> {
      if (isMessage(message, 'multi_agent/spawn')) {
        const { subagent_id, status } = await subagents.spawn(principal, message);
        return { subagent_id, status };
      }
      if (isMessage(message, 'multi_agent/delegate')) {
        const { status, request_id } = await subagents.delegate(principal, message);
        return { accepted: true, status, request_id };
      }
      if (isMessage(message, 'multi_agent/await')) {
        const { subagent_id } = message;
        return { subagent_id, ...(await subagents.await(principal, subagent_id, signal)) };
      }
      if (isMessage(message, 'multi_agent/list')) {
        return { subagents: (await subagents.list(principal)) as unknown as JsonObject[] };
      }
      if (!isMessage(message, 'multi_agent/terminate')) return undefined;
      await subagents.terminate(principal, message.subagent_id);
      return { success: true, subagent_id: message.subagent_id };
    },
  };
}

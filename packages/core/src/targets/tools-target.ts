import { failure, type Json, type JsonObject } from '@dragoman/protocols';
import type { ToolResult } from '@dragoman/protocols/a2e-wire';
import type { Agent, AgentPart } from '../agents/agent.ts';
import type { ToolEvent } from '../call/caller-tools.ts';
import { allows } from '../call/principal.ts';
import { PartQueue } from './part-queue.ts';

/**
 * Every tool of the server as one target: `method` is the tool's name and `params` its arguments. The tool's
 * events arrive as chunks with `delta_kind: "tool"`. `permissions.tools` decides who may call it.
 */
export function toolsTarget(id: string): Agent {
  return {
    id,
    async *answer({ method, params, request_id: requestId }, call) {
      if (call.tools === undefined || method === null || method === '') return yield NO_TOOL;
      const queue = new PartQueue();
      const onEvent = (event: ToolEvent) => queue.put(chunkOf(method, requestId, event));
      const result = yield* queue.until(call.tools.call(method, params, { onEvent }));
      yield endOf(result);
    },
    refusal({ method }, { permissions }) {
      if (allows(permissions.tools, method ?? '')) return undefined;
      const suggestions = [`ask the operator to add ${JSON.stringify(method)} to permissions.tools`];
      return failure('forbidden', { suggestions });
    },
    async [Symbol.asyncDispose]() {},
  };
}

function chunkOf(tool: string, requestId: string | null, { kind, data }: ToolEvent): JsonObject {
  const call = requestId === null ? {} : { tool_call_id: requestId };
  return { delta_kind: 'tool', delta: { ...call, tool, status: 'in_progress', event: kind, data } };
}

function endOf({ success, data, error, error_code: code }: ToolResult): AgentPart {
  if (success) return { part: 'complete', result: (data ?? {}) as Json };
  const details: JsonObject = {
    ...(code !== null && { error_code: code }),
    ...(data !== null && { data: data as Json }),
  };
  return { part: 'failure', failure: failure('tool_failed', details, error ?? undefined) };
}

const NO_TOOL: AgentPart = {
  part: 'failure',
  failure: failure(
    'unknown_method',
    { suggestions: ['set method to the name of a tool'] },
    'The target "tools" needs the name of a tool as method.',
  ),
};

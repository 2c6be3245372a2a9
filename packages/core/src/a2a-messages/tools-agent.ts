import { failure, type Json } from '@dragoman/protocols';
import type { Agent } from '../agents/agent.ts';

/**
 * The tools of this server, asked like an agent: the method of a request is the tool, its parameters are the arguments. A caller
 * reaches the tools it may use and no others, as everywhere.
 */
export function toolsAgent(id: string): Agent {
  return {
    id,
    async *answer({ method, params }, call) {
      if (call.tools === undefined || method === null || method === '') {
        return yield { part: 'failure', failure: failure('unknown_method') };
      }
      const { success, data, error } = await call.tools.call(method, params);
      if (success) yield { part: 'complete', result: (data ?? {}) as Json };
      else yield { part: 'failure', failure: failure('tool_failed', {}, error ?? undefined) };
    },
    async [Symbol.asyncDispose]() {},
  };
}

import { type Agent, agentFailed } from './agent.ts';

/** Stands in for an agent that could not be opened. The reason may name files, so callers do not get it. */
export function unopenedAgent(id: string): Agent {
  return {
    id,
    async *answer() {
      yield agentFailed('The agent could not be opened when the server started.');
    },
    async [Symbol.asyncDispose]() {},
  };
}

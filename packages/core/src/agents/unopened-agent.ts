import { type Agent, agentFailed } from './agent.ts';

/** In the place of an agent that is known and cannot be opened. The reason, which may name files, is the operator's. */
export function unopenedAgent(id: string): Agent {
  return {
    id,
    async *answer() {
      yield agentFailed('The agent could not be opened when the server started.');
    },
    async [Symbol.asyncDispose]() {},
  };
}

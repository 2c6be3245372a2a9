import type { Json } from '@dragoman/protocols';
import { type CallAgentConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { compileJson, compileObject } from '../json-value.ts';
import type { Operation } from '../operation.ts';

/** Asks an agent; the result is what the agent returns, or `{"text": …}` where it only streams text. */
export const callAgent: Operation<CallAgentConfig> = {
  description: OPERATIONS.CallAgent,
  callsApi: true,
  hasEffect: () => true,
  compile({ agent: target, message, method = 'chat.send', params: given, timeout: timeoutMs }, compiling) {
    const content = message === undefined ? undefined : compileJson(message as Json, compiling);
    const params = compileObject(given as Json | undefined, compiling);
    return (step) => {
      const sent = content === undefined ? params(step) : { ...params(step), content: content(step) };
      return step.ask({ target, method, params: sent, timeoutMs });
    };
  },
};

import type { Json } from '@dragoman/protocols';
import { type CallToolConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { compileObject } from '../json-value.ts';
import type { Operation } from '../operation.ts';

/** Calls a tool of the server; a tool that fails is an ExecutionError. */
export const callTool: Operation<CallToolConfig> = {
  description: OPERATIONS.CallTool,
  callsApi: true,
  hasEffect: () => true,
  compile({ tool, arguments: given, timeout }, compiling) {
    const params = compileObject(given as Json | undefined, compiling);
    return (step) => step.ask({ target: 'tools', method: tool, params: params(step), timeoutMs: timeout });
  },
};

import { isObject, type JsonObject } from '@dragoman/protocols';
import type { StartedExecution } from '../executions/started-execution.ts';
import { unreadableLines } from '../executions/workflow-request.ts';
import { Refused } from '../refusals/refused.ts';
import { LOST } from '../runs/active-run.ts';
import { stringOf } from '../text/long-text.ts';
import type { Backend, ToolBackends } from './configured-tool.ts';
import { FailedOutcome, type ToolCall, type ToolOutcome } from './tool.ts';
import { ToolWorkflow } from './tool-workflow.ts';
import type { ConfiguredTool } from './tools-config.ts';

/**
 * A tool that an A2E workflow answers. `{{name}}` in its lines is replaced by an argument. The resulting workflow is
 * like any other of the caller: checked, authorised, recorded and run with the caller's own permissions.
 */
export function workflowTool({ name, workflow = '' }: ConfiguredTool, { workflows, ids }: ToolBackends): Backend {
  if (workflows === undefined) throw new Error(`tool ${name}: workflows are not available here`);
  const { executions, reader } = workflows;
  const written = ToolWorkflow.in(workflow, workflows);
  if (!(written instanceof ToolWorkflow)) throw new Error(`tool ${name}: ${written.fault}`);
  return {
    input: written.inputs,
    async run(args, call) {
      const executionId = `tool-${ids.sortable()}`;
      const read = reader.read({ workflow: written.textFor(args, executionId) });
      if ('failure' in read) throw new Refused(read.failure);
      if (!read.ok) throw new Refused(unreadableLines(read.issues));
      const { principal, signal, hops } = call;
      const identified = { ...read.request, workflow: { ...read.request.workflow, executionId } };
      const execution = await executions.execute(identified, { principal, hops });
      const cancel = () => {
        if (signal.reason !== LOST) void executions.cancel({ owner: principal.id, executionId }).catch(() => {});
      };
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      try {
        await follow(execution, call);
        return outcomeOf(JSON.parse(await stringOf(await execution.result())) as JsonObject);
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}

/** Reports the events of the execution as status events. */
async function follow(execution: StartedExecution, call: ToolCall): Promise<void> {
  for await (const { event, data } of execution.events(-1, call.signal)) {
    const { operationId } = JSON.parse(data) as JsonObject;
    if (typeof operationId === 'string') call.status(`${event} ${operationId}`);
  }
}

/** The results by operation id; the summary has the status. */
function outcomeOf(result: JsonObject): ToolOutcome {
  const { results = {}, error, ...summary } = result;
  if (result['status'] === 'success') return { success: true, data: results, summary };
  const { type, message } = isObject(error) ? error : ({} as JsonObject);
  const words = typeof message === 'string' ? message : `The workflow ended with ${String(result['status'])}.`;
  return new FailedOutcome(words, { code: typeof type === 'string' ? type : 'WORKFLOW_FAILED', data: result });
}

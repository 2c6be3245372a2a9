import { type JsonObject, newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import type { AgentPart } from '../agents/agent.ts';
import { ALL_PERMISSIONS, NO_PERMISSIONS } from '../call/principal.ts';
import { DEFAULT_WORKFLOW_LIMITS as limits } from '../executions/limits.ts';
import type { ExecutionEventRecord } from '../executions/live-execution.ts';
import { Planner } from '../executions/planner.ts';
import { WorkflowRequestReader } from '../executions/workflow-request.ts';
import type { WorkflowService } from '../executions/workflows.ts';
import type { ExecutionRow } from '../store/executions.ts';
import { BUILT_IN as catalog } from '../workflow/catalog.ts';
import { StoredWorkflowEntry } from './stored-workflows.ts';
import { workflowsTarget } from './workflows-target.ts';

const ada = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
const LINES = [
  { type: 'operationUpdate', operationId: 'rest', operation: { Wait: { duration: 1 } } },
  { type: 'beginExecution', executionId: 'mine', operationOrder: ['rest'] },
];
const reader = new WorkflowRequestReader();
const planner = new Planner({
  apis: { version: 1, list: () => [], find: () => undefined },
  credentials: () => ({}),
  storedData: { names: async () => [] } as never,
  limits,
  catalog,
  storedWorkflows: () => ({ version: 1, names: () => ['greet'] }),
});

/** Executions that each report these events and end with this answer. */
class Executions {
  readonly requests: { readonly executionId: string | null; readonly hops: number | undefined }[] = [];
  readonly cancelled: unknown[] = [];
  events: readonly ExecutionEventRecord[] = [];
  answer: JsonObject = { status: 'success', results: {} };

  execute: WorkflowService['executions']['execute'] = async ({ workflow }, { hops }) => {
    const { executionId } = workflow;
    this.requests.push({ executionId, hops });
    const { events, answer } = this;
    return {
      row: { executionId: executionId ?? '' } as ExecutionRow,
      replayedFrom: () => undefined,
      async *eventsSoFar() {},
      result: async () => JSON.stringify(answer),
      resultUnlessParked: async () => undefined,
      async *events() {
        yield* events;
        yield {
          sequence: events.length,
          event: 'execution-finished',
          data: JSON.stringify({ result: answer }),
        } as const;
      },
    };
  };

  cancel = async (key: unknown) => {
    this.cancelled.push(key);
    return true;
  };
}

interface Asking {
  readonly params?: JsonObject;
  readonly hops?: number;
  readonly signal?: AbortSignal;
}

async function answered(
  method: string,
  { params = {}, hops, signal = new AbortController().signal }: Asking,
  executions = new Executions(),
): Promise<AgentPart[]> {
  const workflows = { reader, planner, executions } as unknown as WorkflowService;
  const text = LINES.map((line) => JSON.stringify(line).replace('1}', '"{{ms}}"}')).join('\n');
  const greet = new StoredWorkflowEntry(
    { name: 'greet', description: '', text },
    { version: 1, rules: { reader, limits, catalog } },
  );
  const target = workflowsTarget({ workflows, stored: { find: (name) => (name === 'greet' ? greet : undefined) } });
  const envelope = newEnvelope({
    request_id: 'r1',
    method,
    params,
    ...(hops !== undefined && { channel_context: { hops } }),
  });
  const parts: AgentPart[] = [];
  for await (const part of target.answer(envelope, { principal: ada, signal, log: new SilentLog() })) parts.push(part);
  return parts;
}

test('workflow.validate reports the problems as its result', async () => {
  expect(await answered('workflow.validate', { params: { workflow: LINES } })).toMatchObject([
    { part: 'complete', result: { valid: true, errors: [] } },
  ]);
  const [part] = await answered('workflow.validate', { params: { workflow: LINES.slice(1) } });
  expect(part).toMatchObject({ part: 'complete', result: { valid: false } });
});

test('a workflow that runs an unknown stored workflow is not valid', async () => {
  const run = { RunWorkflow: { name: 'gret', outputPath: '/workflow/out' } };
  const workflow = [{ type: 'operationUpdate', operationId: 'rest', operation: run }, LINES[1] ?? {}];
  const [part] = await answered('workflow.validate', { params: { workflow } });
  expect(part).toMatchObject({
    result: { errors: [expect.objectContaining({ code: 'workflow_unknown', suggestion: 'did you mean greet?' })] },
  });
});

test('workflow.plan reports the steps without running them', async () => {
  const executions = new Executions();
  const workflow = LINES.map((line) => JSON.stringify(line)).join('\n');
  expect(await answered('workflow.plan', { params: { workflow } }, executions)).toMatchObject([
    { part: 'complete', result: { execution_id: 'mine', steps: [{ operationId: 'rest' }], warnings: [] } },
  ]);
  expect(executions.requests).toEqual([]);
});

test('workflow.execute reports each operation as a tool chunk, and ends with the answer of the REST route', async () => {
  const executions = new Executions();
  const data = { execution_id: 'mine', operationId: 'rest', key: 'rest' };
  executions.events = [
    { sequence: 0, event: 'operation-started', data: JSON.stringify(data) },
    { sequence: 1, event: 'operation-finished', data: JSON.stringify({ ...data, status: 'error', duration_ms: 3 }) },
  ];
  const call = { tool_call_id: 'mine:rest', tool: 'rest' };
  expect(await answered('workflow.execute', { params: { workflow: LINES } }, executions)).toMatchObject([
    { part: 'chunk', body: { delta_kind: 'tool', delta: { ...call, status: 'in_progress' } } },
    {
      part: 'chunk',
      body: { delta_kind: 'tool', delta: { ...call, status: 'failed', data: { status: 'error', duration_ms: 3 } } },
    },
    { part: 'complete', result: { status: 'success', results: {} } },
  ]);
});

test.each([
  [{ status: 'error', error: { type: 'TimeoutError', message: 'too late' } }, 'TimeoutError', 'too late'],
  [{ status: 'cancelled' }, 'WORKFLOW_FAILED', 'The workflow ended with status "cancelled".'],
  [{ status: 'timeout' }, 'WORKFLOW_FAILED', 'The workflow ended with status "timeout".'],
  [
    { status: 'partial_success', results: { a: 1 }, error: { type: 'ExecutionError', message: 'b failed' } },
    'ExecutionError',
    'b failed',
  ],
])('an execution that ended with %j is an error frame', async (answer, code, message) => {
  const executions = new Executions();
  executions.answer = answer;
  expect(await answered('workflow.execute', { params: { workflow: LINES } }, executions)).toEqual([
    { part: 'error', code, message, details: answer },
  ]);
});

test('a stored workflow runs with its inputs, under one execution id for each request, and keeps the hop count', async () => {
  const executions = new Executions();
  for (const hops of [undefined, 3]) {
    await answered('greet', { params: { ms: 5 }, ...(hops !== undefined && { hops }) }, executions);
  }
  const [first, second] = executions.requests;
  expect(first).toEqual({ executionId: expect.stringMatching(/^req-[0-9a-f]{32}$/), hops: 0 });
  expect(second).toEqual({ executionId: first?.executionId, hops: 3 });
});

test('wrong inputs, unreadable lines and an unknown name are refused before anything runs', async () => {
  const executions = new Executions();
  const refusal = (method: string, params: JsonObject) =>
    answered(method, { params }, executions).then(
      ([part]) => (part?.part === 'failure' ? part.failure : part),
      (error) => error.failure,
    );
  expect(await refusal('greet', { mode: 'x' })).toMatchObject({
    code: 'invalid_message',
    details: { issues: [{ pointer: '/params/ms' }, { pointer: '/params/mode' }] },
  });
  expect(await refusal('workflow.execute', { workflow: '{' })).toMatchObject({ code: 'invalid_message' });
  expect(await refusal('workflow.execute', {})).toMatchObject({ code: 'invalid_message' });
  expect(await refusal('nothing', {})).toMatchObject({ code: 'not_found' });
  expect(executions.requests).toEqual([]);
});

test('a request that was cancelled cancels its execution', async () => {
  const executions = new Executions();
  await answered('workflow.execute', { params: { workflow: LINES }, signal: AbortSignal.abort() }, executions);
  expect(executions.cancelled).toEqual([{ owner: 'ada', executionId: 'mine' }]);
});

test('permissions.workflows decides about stored workflows, planning about others', () => {
  const target = workflowsTarget({ workflows: {} as WorkflowService, stored: { find: () => undefined } });
  const nobody = { ...ada, permissions: NO_PERMISSIONS };
  expect(target.refusal?.(newEnvelope({ method: 'greet' }), nobody)).toMatchObject({ code: 'forbidden' });
  expect(target.refusal?.(newEnvelope({ method: 'greet' }), ada)).toBeUndefined();
  expect(target.refusal?.(newEnvelope({ method: 'workflow.execute' }), nobody)).toBeUndefined();
});

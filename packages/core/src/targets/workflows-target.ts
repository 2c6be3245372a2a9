import { hash } from 'node:crypto';
import { type E2AEnvelope, type Failure, failure, type Json, type JsonObject } from '@dragoman/protocols';
import type { Agent, AgentPart } from '../agents/agent.ts';
import type { Call } from '../call/call.ts';
import { hopsOf } from '../call/hops.ts';
import { allows, type Principal } from '../call/principal.ts';
import type { ExecuteContext } from '../executions/executions.ts';
import { refusalOf } from '../executions/planner.ts';
import { type ParsedRequest, type ParseOutcome, unreadableLines } from '../executions/workflow-request.ts';
import type { WorkflowService } from '../executions/workflows.ts';
import { failureOf, Refused } from '../refusals/refused.ts';
import { explainPlan } from '../workflow/explain.ts';
import { executionFrameKey, partOf } from './execution-parts.ts';
import type { StoredWorkflows } from './stored-workflows.ts';

export interface WorkflowsTargetOptions {
  readonly workflows: Pick<WorkflowService, 'reader' | 'planner' | 'executions'>;
  readonly stored: Pick<StoredWorkflows, 'find'>;
}

/**
 * Workflows as one target. `method` is the name of a stored workflow, with its inputs in `params`, or
 * `workflow.execute`, `workflow.validate` or `workflow.plan` with the workflow in `params.workflow`: JSON lines, or an
 * array of messages. Every operation's start and end is a chunk with `delta_kind: "tool"`; the final frame has the same
 * result as the REST route.
 */
export function workflowsTarget(options: WorkflowsTargetOptions): Agent {
  return {
    id: 'workflows',
    async *answer(envelope, call) {
      const { method, params } = envelope;
      const answers = Object.hasOwn(METHODS, method ?? '') ? METHODS[method ?? ''] : undefined;
      if (answers !== undefined) return yield* answers(adHoc(params, options), envelope, call, options);
      const stored = options.stored.find(method ?? '');
      const read = stored?.read(params, executionIdFor(envelope)) ?? { ok: false, failure: noWorkflow(method) };
      yield* executed(read, envelope, call, options);
    },
    // A recorded execution continues after a restart and reports the same frames.
    frameKey: executionFrameKey,
    // Planning decides what an ad hoc workflow may use, operation by operation.
    refusal({ method }, principal) {
      if (principal.kind === 'anonymous') return failure('forbidden');
      if (Object.hasOwn(METHODS, method ?? '') || mayRun(principal, method ?? '')) return undefined;
      const suggestions = [`ask the operator to add ${JSON.stringify(method)} to permissions.workflows`];
      return failure('forbidden', { suggestions });
    },
    async [Symbol.asyncDispose]() {},
  };
}

export function mayRun({ permissions }: Principal, name: string): boolean {
  return allows(permissions.workflows, name);
}

type Answers = (
  read: ParseOutcome,
  envelope: E2AEnvelope,
  call: Call,
  options: WorkflowsTargetOptions,
) => AsyncGenerator<AgentPart, void, undefined>;

const METHODS: Readonly<Record<string, Answers>> = {
  'workflow.execute': executed,
  'workflow.validate': validated,
  'workflow.plan': planned,
};

async function* validated(...[read, , { principal }, { workflows }]: Parameters<Answers>): ReturnType<Answers> {
  if ('failure' in read) throw new Refused(read.failure);
  yield { part: 'complete', result: (await workflows.planner.report(read, principal)) as Json };
}

async function* planned(...[read, , { principal }, { workflows }]: Parameters<Answers>): ReturnType<Answers> {
  const request = readable(read);
  const outcome = await workflows.planner.compile(request, principal);
  if (!outcome.ok) throw new Refused(refusalOf(outcome.findings));
  const warnings = [...request.warnings, ...outcome.plan.warnings].map((warning) => ({ ...warning }));
  yield { part: 'complete', result: { ...explainPlan(outcome.plan), warnings } as unknown as Json };
}

async function* executed(...[read, envelope, call, { workflows }]: Parameters<Answers>): ReturnType<Answers> {
  const { executions } = workflows;
  const { principal, signal, running } = call;
  const executionId = (read.ok ? read.request.workflow.executionId : null) ?? executionIdFor(envelope);
  const key = { owner: principal.id, executionId };
  // Before `readable`: the execution continues even if its workflow would no longer be accepted.
  const earlier = running?.isResumed === true ? await executions.continued(key, signal) : undefined;
  const execution =
    earlier ?? (await executions.execute(named(readable(read), executionId), contextOf(envelope, call)));
  const cancel = () => {
    if (running?.isAbandoned !== true) void executions.cancel(key).catch(() => {});
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  let go: (() => void) | undefined;
  try {
    for await (const event of execution.events(-1, signal)) {
      go?.();
      // While the execution waits for a person, the call's time limit is paused.
      go = event.event === 'question-asked' ? call.pause?.() : undefined;
      yield partOf(event);
    }
  } catch (error) {
    // The server is stopping: the execution and this request continue after the next start.
    if (failureOf(error)?.code === 'interrupted') running?.leave();
    throw error;
  } finally {
    go?.();
    signal.removeEventListener('abort', cancel);
  }
}

function named(request: ParsedRequest, executionId: string): ParsedRequest {
  return { ...request, workflow: { ...request.workflow, executionId } };
}

function contextOf(envelope: E2AEnvelope, { principal }: Call): ExecuteContext {
  return { principal, hops: hopsOf(envelope), requestId: envelope.request_id ?? undefined };
}

/** The same id for the same request, so that a repeat finds its execution. */
function executionIdFor({ request_id: requestId }: E2AEnvelope): string {
  return `req-${hash('sha256', requestId ?? '', 'hex').slice(0, 32)}`;
}

function adHoc(params: JsonObject, { workflows }: WorkflowsTargetOptions): ParseOutcome {
  return workflows.reader.read(params);
}

function readable(read: ParseOutcome) {
  if ('failure' in read) throw new Refused(read.failure);
  if (!read.ok) throw new Refused(unreadableLines(read.issues));
  return read.request;
}

function noWorkflow(method: string | null): Failure {
  const suggestions = ['set method to workflow.execute, or to the name of a stored workflow'];
  return failure('not_found', { suggestions }, `There is no stored workflow ${JSON.stringify(method ?? '')}.`);
}

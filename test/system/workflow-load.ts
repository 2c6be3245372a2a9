import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { ExecutionResult } from '../../packages/protocols/src/a2e-workflow/message.ts';
import type { Fate } from './answer-check.ts';
import { call } from './call.ts';
import type { Owner } from './load.ts';
import type { System } from './system.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

/** A workflow a client sent, and what it received of it before the server died. */
export interface SentWorkflow {
  readonly owner: Owner;
  readonly executionId: string;
  readonly workflow: string;
  /** Where its tool counts its calls. */
  readonly counted: string;
  isAcknowledged: boolean;
  result?: ExecutionResult;
}

export interface WorkflowLoadOptions {
  readonly system: System;
  readonly owner: Owner;
  readonly life: string;
  readonly counted: string;
  readonly isOver: () => boolean;
  readonly onSent: (sent: SentWorkflow) => void;
}

/** One client that sends workflows, one after the other, until the server is gone: each calls a tool, an agent, and a tool again. */
export async function sendWorkflows(options: WorkflowLoadOptions): Promise<void> {
  const { system, owner, life, counted, isOver, onSent } = options;
  const caller = new WorkflowCaller(system, owner.key);
  for (let number = 0; !isOver(); number += 1) {
    // The owners use the same ids: only the key distinguishes them.
    const executionId = `${life}-workflow-${number}`;
    const workflow = workflowFor(owner, executionId, counted);
    const sent: SentWorkflow = { owner, executionId, workflow, counted, isAcknowledged: false };
    onSent(sent);
    const answer = await caller.post('execute', { workflow }, { headers: { prefer: 'respond-async' } });
    await answer.text();
    // A server that is stopping refuses; what it refuses it has not taken.
    if (answer.status === 503) continue;
    if (answer.status !== 202) throw new Error(`a workflow was answered with ${answer.status}`);
    sent.isAcknowledged = true;
    const result = await caller.ended(executionId);
    if (result.status !== undefined) sent.result = result;
  }
}

/** Compares one execution with what its client received before the server died; throws on any difference. */
export async function checkExecution(system: System, sent: SentWorkflow, others: readonly Owner[]): Promise<Fate> {
  const { owner, executionId, workflow, counted } = sent;
  const what = `${owner.canary} ${executionId}`;
  const caller = new WorkflowCaller(system, owner.key);
  const known = await caller.get(`executions/${executionId}`);
  if (known.status === 404) {
    expect(sent.isAcknowledged, `${what} was acknowledged and is gone`).toBe(false);
    return 'unknown';
  }
  const result = await caller.ended(executionId);
  if (sent.result !== undefined) expect(result, what).toEqual(sent.result);
  const counts = STEPS.map((step) => timesCounted(counted, idOf(sent, step)));
  const isComplete = result.status === 'success';
  if (isComplete) expect(counts, what).toEqual([1, 1]);
  else expectStopped(result, counts, what);
  // Sent again, it is the same result and no second run.
  expect(await caller.execute(workflow), what).toMatchObject({ ...result, replayed: true });
  expect(
    STEPS.map((step) => timesCounted(counted, idOf(sent, step))),
    what,
  ).toEqual(counts);
  for (const other of others) {
    if (other === owner) continue;
    const theirs = await (await call(system.url, { path: `/api/v1/executions/${executionId}`, key: other.key })).text();
    expect(theirs.includes(owner.canary), `${other.canary} sees ${what}`).toBe(false);
  }
  return isComplete ? 'complete' : 'interrupted';
}

/** A step was running when the server died, so its effect is unknown: no step was done twice, and none after it. */
function expectStopped(result: ExecutionResult, counts: readonly number[], what: string): void {
  expect(['partial_success', 'error'], `${what} ${JSON.stringify(result)}`).toContain(result.status);
  expect(result.error, what).toMatchObject({ type: 'ExecutionError' });
  const [before = 0, after = 0] = counts;
  expect(before <= 1 && after <= 1, `${what} called its tool ${before} and ${after} times`).toBe(true);
}

const STEPS = ['before', 'after'] as const;

function workflowFor(owner: Owner, executionId: string, file: string): string {
  const count = (step: (typeof STEPS)[number]) => ({
    CallTool: {
      tool: 'count',
      arguments: { id: idOf({ owner, executionId }, step), file },
      outputPath: `/workflow/${step}`,
    },
  });
  const ask = { CallAgent: { agent: 'pure', message: `${owner.canary} asks`, outputPath: '/workflow/answer' } };
  return workflowOf(
    { before: count('before'), wait: { Wait: { duration: 2 } }, ask, after: count('after') },
    { id: executionId },
  );
}

function idOf({ owner, executionId }: Pick<SentWorkflow, 'owner' | 'executionId'>, step: string): string {
  return `${owner.canary}-${executionId}-${step}`;
}

/** How often a call with this id took effect. */
export function timesCounted(file: string, id: string): number {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.filter((line) => line === id).length;
}

import type {
  Clock,
  EffectRow,
  ExecutionEventRecord,
  ExecutionSummary,
  RecordedExecution,
  WorkflowService,
} from '@dragoman/core';
import { type Failure, failure, isObject, type JsonObject, nearest } from '@dragoman/protocols';
import { EXECUTION_STATUSES } from '@dragoman/protocols/a2e-workflow';
import { negotiateType, notAcceptable } from '../edges/accept.ts';
import { type StreamRecord, sseAnswer } from '../edges/sse.ts';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { afterOf, callerOf } from './inbound-fields.ts';
import { integerIn } from './integer-in.ts';
import { jsonText } from './json-text.ts';
import { AFTER, integerParameter, textParameter } from './route-parameters.ts';
import { workflowFailure } from './workflow-failure.ts';

export interface ExecutionContext {
  readonly workflows: WorkflowService;
  readonly clock: Clock;
}

/** Executions: read, list, follow, cancel and delete them. */
export function executionRoutes(context: ExecutionContext): Route[] {
  const { executions } = context.workflows;
  const common = { access: 'agent', wordFailure: workflowFailure } as const;
  return [
    {
      ...common,
      method: 'GET',
      path: '/api/v1/executions',
      counts: true,
      summary: 'List your executions, newest first (?limit, ?cursor, ?status).',
      parameters: [
        integerParameter('limit', 'Maximum number of entries. Default: 100.'),
        textParameter('cursor', 'The next_cursor of the previous page.'),
        textParameter('status', 'Only executions with this status.', EXECUTION_STATUSES),
      ],
      handle: (request) => list(request, context),
    },
    {
      ...common,
      method: 'GET',
      path: '/api/v1/executions/:execution_id',
      owned: true,
      counts: true,
      summary: 'Read an execution: its state or result.',
      handle: async (request) => {
        const text = await executions.find(keyOf(request));
        return text === undefined ? NO_EXECUTION : jsonText(text);
      },
    },
    {
      ...common,
      method: 'DELETE',
      path: '/api/v1/executions/:execution_id',
      owned: true,
      counts: true,
      summary: 'Forget a finished execution with its events and result.',
      handle: async (request) => {
        const removed = await executions.remove(keyOf(request));
        if (removed === 'absent') return NO_EXECUTION;
        if (removed === 'under_way') return RUNNING;
        return { status: 200, json: { execution_id: keyOf(request).executionId, removed: true } };
      },
    },
    {
      ...common,
      method: 'GET',
      path: '/api/v1/executions/:execution_id/record',
      owned: true,
      counts: true,
      summary:
        'Read the workflow of an execution and its recorded effects: calls with their attempts, waits and writes.',
      handle: async (request) => {
        const key = keyOf(request);
        const record = await executions.record(key);
        return record === undefined ? NO_EXECUTION : { status: 200, json: recordJson(key.executionId, record) };
      },
    },
    {
      ...common,
      method: 'GET',
      path: '/api/v1/executions/:execution_id/events',
      owned: true,
      counts: false,
      summary: 'Follow the events of an execution as SSE, after Last-Event-ID or ?after=N.',
      parameters: AFTER,
      answers: { 'text/event-stream': { type: 'string' } },
      handle: (request) => events(request, context),
    },
    {
      ...common,
      method: 'POST',
      path: '/api/v1/executions/:execution_id/cancel',
      owned: true,
      counts: true,
      summary: 'Cancel a running execution.',
      handle: async (request) => {
        const ended = await executions.cancel(keyOf(request));
        if (ended === undefined) return NO_EXECUTION;
        return { status: 200, json: { execution_id: keyOf(request).executionId, ...ended } };
      },
    },
  ];
}

export async function* eventRecords(events: AsyncIterable<ExecutionEventRecord>): AsyncGenerator<StreamRecord> {
  for await (const { sequence, event, data } of events) yield { id: sequence, event, data };
}

async function events(request: InboundRequest, { workflows, clock }: ExecutionContext): Promise<Answer | Failure> {
  if (negotiateType(request.headers.accept, STREAM) === undefined) return notAcceptable(STREAM);
  const after = afterOf(request);
  if (typeof after === 'object') return after;
  const execution = await workflows.executions.follow(keyOf(request));
  return execution === undefined
    ? NO_EXECUTION
    : sseAnswer(eventRecords(execution.events(after, request.signal)), { clock });
}

async function list(request: InboundRequest, { workflows }: ExecutionContext): Promise<Answer | Failure> {
  const { query } = request;
  const limit = integerIn(query, 'limit', { from: 1, to: MOST_LISTED, otherwise: 100 });
  if (isFailure(limit)) return limit;
  const status = query.get('status') ?? undefined;
  if (status !== undefined && !EXECUTION_STATUSES.some((known) => known === status)) {
    const message = `status must be one of ${EXECUTION_STATUSES.join(', ')}; got ${JSON.stringify(status)}`;
    const close = nearest(status, EXECUTION_STATUSES);
    const suggestion = close === undefined ? 'leave status out for all of them' : `did you mean ${close}?`;
    return failure('invalid_message', { issues: [{ pointer: '/status', code: 'enum', message, suggestion }] }, message);
  }
  const cursor = query.get('cursor') ?? undefined;
  const { rows, next } = await workflows.executions.list(callerOf(request).id, {
    limit: limit.value,
    status,
    cursor,
  });
  const json = { executions: rows.map(summaryJson), count: rows.length, next_cursor: next ?? null };
  return { status: 200, json };
}

function summaryJson({ executionId, status, acceptedAt, endedAt }: ExecutionSummary): JsonObject {
  return {
    execution_id: executionId,
    status,
    started_at: new Date(acceptedAt).toISOString(),
    completed_at: endedAt === null ? null : new Date(endedAt).toISOString(),
    ...(endedAt !== null && { duration_ms: Math.max(0, endedAt - acceptedAt) }),
  };
}

function recordJson(executionId: string, { request, planHash, effects }: RecordedExecution): JsonObject {
  const { workflow = '' } = JSON.parse(request) as JsonObject;
  return { execution_id: executionId, plan_hash: planHash, workflow, effects: effects.map(effectJson) };
}

/** An effect without the bytes that were sent and received: the results contain what the caller may see. */
function effectJson({ key, kind, note, bytes }: EffectRow): JsonObject {
  const { status, sent, failure: failed, until } = JSON.parse(note) as JsonObject;
  const attempts = [sent, isObject(failed) ? failed['details'] : undefined]
    .map((one) => (isObject(one) ? one['attempts'] : undefined))
    .find((one) => typeof one === 'number');
  return {
    key,
    kind,
    bytes: bytes?.length ?? 0,
    ...(typeof status === 'number' && { status }),
    ...(attempts !== undefined && { attempts }),
    ...(isObject(failed) && { failure: failed['message'] ?? null }),
    ...(typeof until === 'number' && { until: new Date(until).toISOString() }),
  };
}

function keyOf(request: InboundRequest): { owner: string; executionId: string } {
  return { owner: callerOf(request).id, executionId: request.params['execution_id'] ?? '' };
}

const NO_EXECUTION = failure(
  'not_found',
  { suggestions: ['GET /api/v1/executions lists yours'] },
  'Execution not found.',
);
const RUNNING = failure('conflict', { suggestions: ['cancel it first'] }, 'The execution is running.');
const STREAM = ['text/event-stream'] as const;
const MOST_LISTED = 1000;

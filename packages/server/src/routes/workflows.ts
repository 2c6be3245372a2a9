import {
  type Clock,
  explainPlan,
  type ParseOutcome,
  refusalOf,
  replayedResult,
  unreadable,
  unreadableLines,
  type WorkflowService,
} from '@dragoman/core';
import { type Failure, failure, type Json, type JsonObject } from '@dragoman/protocols';
import { WorkflowRequest } from '@dragoman/protocols/a2e-workflow';
import { negotiateType, notAcceptable } from '../edges/accept.ts';
import { sseAnswer } from '../edges/sse.ts';
import type { Answer, InboundRequest, Route, RouteParameter } from '../http/route.ts';
import { eventRecords } from './executions.ts';
import { callerOf, idempotencyKeyOf } from './inbound-fields.ts';
import { jsonText } from './json-text.ts';
import { IDEMPOTENCY_KEY, integerParameter, textParameter } from './route-parameters.ts';
import { workflowFailure } from './workflow-failure.ts';

export interface WorkflowContext {
  readonly workflows: WorkflowService;
  readonly clock: Clock;
}

/** A2E workflows: check one, plan it, run it. */
export function workflowRoutes(context: WorkflowContext): Route[] {
  const common = {
    method: 'POST',
    access: 'agent',
    counts: true,
    wordFailure: workflowFailure,
    body: {
      contentTypes: ['application/json', 'application/jsonl', 'application/x-ndjson'],
      maxBytes: context.workflows.limits.max_workflow_bytes,
      schema: WorkflowRequest,
    },
    parameters: BESIDE_LINES,
  } as const;
  return [
    {
      ...common,
      path: '/api/v1/workflows/validate',
      summary: 'Validate a workflow and report every problem.',
      handle: (request) => validate(request, context),
    },
    {
      ...common,
      path: '/api/v1/workflows/plan',
      summary: 'Plan a workflow without running it.',
      handle: (request) => plan(request, context),
    },
    {
      ...common,
      path: '/api/v1/workflows/execute',
      summary: 'Run a workflow. Returns the result, an SSE stream of its progress (Accept), or 202 (Prefer).',
      parameters: [...BESIDE_LINES, IDEMPOTENCY_KEY, PREFER, PLAN_HASH],
      answers: { 'application/json': { type: 'object' }, 'text/event-stream': { type: 'string' } },
      handle: (request) => execute(request, context),
    },
  ];
}

async function validate(request: InboundRequest, { workflows }: WorkflowContext): Promise<Answer | Failure> {
  const read = await readRequest(request, workflows);
  if ('failure' in read) return read.failure;
  return { status: 200, json: (await workflows.planner.report(read, callerOf(request))) as JsonObject };
}

async function plan(request: InboundRequest, { workflows }: WorkflowContext): Promise<Answer | Failure> {
  const read = await readRequest(request, workflows);
  if ('failure' in read) return read.failure;
  if (!read.ok) return unreadableLines(read.issues);
  const outcome = await workflows.planner.compile(read.request, callerOf(request));
  if (!outcome.ok) return refusalOf(outcome.findings);
  const warnings = [...read.request.warnings, ...outcome.plan.warnings].map((warning) => ({ ...warning }));
  return { status: 200, json: { ...explainPlan(outcome.plan), warnings } as unknown as JsonObject };
}

async function execute(request: InboundRequest, { workflows, clock }: WorkflowContext): Promise<Answer | Failure> {
  const framing = negotiateType(request.headers.accept, FRAMINGS);
  if (framing === undefined) return notAcceptable(FRAMINGS);
  const idempotencyKey = idempotencyKeyOf(request);
  if (typeof idempotencyKey === 'object') return idempotencyKey;
  const read = await readRequest(request, workflows);
  if ('failure' in read) return read.failure;
  if (!read.ok) return unreadableLines(read.issues);
  // RFC 7240 §4.1: the client does not want to wait for the result.
  const isAsync = /(?:^|[\s,;])respond-async(?:$|[\s,;])/i.test(String(request.headers['prefer'] ?? ''));
  const waits = framing === 'application/json' && !isAsync;
  const started = await workflows.executions.execute(read.request, {
    principal: callerOf(request),
    idempotencyKey,
    planHash: planHashOf(request),
    waits,
  });
  const { executionId } = started.row;
  const location = {
    Location: `/api/v1/executions/${executionId}`,
    ...(started.replayedFrom() !== undefined && REPLAYED),
  };
  if (isAsync) {
    const headers = { ...location, 'Preference-Applied': 'respond-async' };
    return { status: 202, headers, json: { execution_id: executionId, status: 'running', results: {} } };
  }
  if (framing === 'text/event-stream') {
    const answer = sseAnswer(eventRecords(started.events(-1, request.signal)), { clock });
    return { ...answer, headers: { ...answer.headers, ...location } };
  }
  const result = await started.resultUnlessParked(request);
  // The execution waits for a person, perhaps for days.
  if (result === undefined) {
    const running = await workflows.executions.find(started.row);
    if (running === undefined) return failure('not_found');
    return { ...jsonText(running, location), status: 202 };
  }
  const replayedFrom = started.replayedFrom();
  if (replayedFrom === undefined) return jsonText(result, location);
  return jsonText(replayedResult(result, replayedFrom), { ...location, ...REPLAYED });
}

function planHashOf({ headers }: InboundRequest): string | undefined {
  const given = headers['plan-hash'];
  return typeof given === 'string' ? given.trim() : undefined;
}

/** The request, from the JSON body of the specification or from JSON lines with the other members in the query. */
async function readRequest(request: InboundRequest, { reader }: WorkflowService): Promise<ParseOutcome> {
  const { headers, body, query } = request;
  if (!/^application\/(?:jsonl|x-ndjson)\b/i.test(headers['content-type'] ?? '')) {
    const json = await request.readJson();
    if (!json.ok) return { ok: false, failure: unreadable(json.issues) };
    return reader.read(json.value);
  }
  let workflow: string;
  try {
    workflow = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { ok: false, failure: failure('not_utf8') };
  }
  const given: Record<string, Json> = { workflow };
  for (const name of ['onError', 'level']) if (query.has(name)) given[name] = query.get(name);
  const timeout = query.get('timeout_ms');
  if (timeout !== null) given['timeout_ms'] = /^\d{1,9}$/.test(timeout) ? Number(timeout) : timeout;
  return reader.read(given);
}

/** The members of the JSON body that are in the query if the body is JSON lines. */
const BESIDE_LINES: readonly RouteParameter[] = [
  textParameter('onError', 'For a body of JSON lines: what to do after a failed operation.', ['stop', 'continue']),
  textParameter('level', 'For a body of JSON lines: how strict the checks are.', ['strict', 'moderate', 'lenient']),
  integerParameter('timeout_ms', 'For a body of JSON lines: the timeout.'),
];
const PREFER: RouteParameter = {
  in: 'header',
  name: 'Prefer',
  description: '`respond-async`: answer 202 at once.',
  schema: { type: 'string' },
};
const PLAN_HASH: RouteParameter = {
  in: 'header',
  name: 'Plan-Hash',
  description: 'Run it only if its plan has this hash, as /api/v1/workflows/plan reports it; otherwise answer 409.',
  schema: { type: 'string' },
};
/** The header with which other APIs mark the answer to a repeated idempotency key. */
const REPLAYED = { 'Idempotent-Replayed': 'true' } as const;
const FRAMINGS = ['application/json', 'text/event-stream'] as const;

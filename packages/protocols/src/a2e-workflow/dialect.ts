import type { DecodeOptions, Dialect, Stamp } from '../dialect.ts';
import { type E2AEnvelope, newEnvelope } from '../e2a/envelope.ts';
import { newProvenance } from '../e2a/provenance.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { FAILURES, type Failure } from '../failure.ts';
import * as validators from '../generated/a2e-workflow.js';
import { isEmpty } from '../holds-something.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { lost } from '../lost.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { show } from '../validation.ts';
import { type Body, bodyKind, decodeBody } from './body.ts';
import { encodeWorkflow, readLoneLine, readWorkflow, type Workflow } from './document.ts';
import { withCategory } from './error-category.ts';
import {
  isBundledLine,
  isLine,
  isPlainUpdate,
  isSpecLine,
  type Line,
  type LineReading,
  readBundledBegin,
  readSpecLine,
} from './line.ts';
import type { ErrorBody, ExecutionResult, WorkflowError, WorkflowRequest } from './message.ts';
import { decodeRequest, type WorkflowRunOptions } from './request.ts';
import { Id } from './value.ts';

/** A2E workflows in memory. `kind` distinguishes a line, a whole workflow and the answers. */
export type WorkflowMessage =
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'workflow'; readonly workflow: Workflow; readonly options: WorkflowRunOptions }
  | Body;

/** The A2E workflow protocol: declarative JSONL workflows and the answers of the server that runs them. */
export const a2eWorkflowDialect: Dialect<WorkflowMessage> = {
  name: 'a2e-workflow',

  recognizes(json) {
    if (Array.isArray(json)) return json.length > 0 && json.every(isLine);
    if (!isObject(json) || Object.hasOwn(json, 'message_type')) return false;
    if (isLine(json)) return true;
    if (typeof json['type'] === 'string') return false;
    return typeof json['workflow'] === 'string' || bodyKind(json) !== undefined;
  },

  decode(json, _now, options: DecodeOptions = {}) {
    const lenient = options.lenient ?? false;
    if (Array.isArray(json)) return asMessage(readWorkflow(json, { lenient }), {});
    if (!isObject(json)) return reject(notOurs(json));
    // Fast path: a line without problems.
    if (isPlainUpdate(json)) return accept({ kind: 'line', line: json });
    if (isSpecLine(json)) return decodeLine(json, lenient);
    if (Object.hasOwn(json, 'workflow')) {
      const request = decodeRequest(json, { lenient });
      return request.ok ? accept({ kind: 'workflow', ...request.value }, request.warnings) : request;
    }
    if (isBundledLine(json) || Object.hasOwn(json, 'type')) return decodeLine(json, lenient);
    const kind = bodyKind(json);
    return kind === undefined ? reject(notOurs(json)) : decodeBody(kind, json, lenient);
  },

  encode(message): Json {
    if (message.kind === 'line') return message.line as Json;
    if (message.kind === 'workflow') return { workflow: encodeWorkflow(message.workflow), ...message.options };
    return message.body as Json;
  },

  toEnvelope(message) {
    if (message.kind !== 'workflow') return undefined;
    return newEnvelope({
      request_id: message.workflow.executionId,
      identity_origin: 'agent',
      method: EXECUTE,
      params: { workflow: encodeWorkflow(message.workflow), ...message.options },
      provenance: newProvenance({
        source_protocol: 'a2e-workflow',
        converter: 'dragoman',
        details: { kind: 'workflow' },
      }),
    });
  },

  fromEnvelope(envelope, _stamp: Stamp) {
    const { workflow } = envelope.params;
    if (envelope.method !== EXECUTE || typeof workflow !== 'string') return reject(notAWorkflow(envelope));
    const known = Object.entries(envelope.params).filter(([name]) => REQUEST_FIELDS.has(name));
    const request = decodeRequest(Object.fromEntries(known));
    if (!request.ok) {
      const issues = request.issues.map((issue) => ({ ...issue, pointer: `/params${issue.pointer}` }));
      return { ok: false, issues };
    }
    const message = withId(request.value, envelope.request_id);
    return accept<WorkflowMessage>({ kind: 'workflow', ...message }, lossesOf(envelope, message.workflow));
  },

  fromResponse(response, request) {
    const executionId = response.request_id ?? request.request_id;
    if (response.response_kind === 'e2a.complete' && response.status !== 'failed') {
      return [{ kind: 'result', body: resultOf(response, executionId) }];
    }
    if (response.response_kind === 'e2a.error' || response.status === 'failed') {
      return [{ kind: 'error', body: errorBody(errorOf(response.body), executionId) }];
    }
    return [];
  },

  fromFailure(failure, request) {
    if (failure.code === 'rate_limited') {
      const seconds = Math.max(0, Math.ceil(failure.details.retry_after ?? 1));
      return {
        kind: 'rate-limited',
        body: { error: 'Rate limit exceeded', message: failure.message, retry_after: seconds },
      };
    }
    return { kind: 'error', body: errorBody(errorOfFailure(failure), request?.request_id ?? null) };
  },
};

function decodeLine(json: JsonObject, lenient: boolean): Outcome<WorkflowMessage> {
  // A line with several operations, or an invalid line, is read as a document.
  if (!isSpecLine(json) && !Object.hasOwn(json, 'beginExecution'))
    return asMessage(readLoneLine(json, { lenient }), {});
  const reading: LineReading = { at: '', lenient, issues: [], warnings: [] };
  let line: Line | undefined;
  if (isSpecLine(json)) {
    line = readSpecLine(json, reading);
  } else {
    const begin = readBundledBegin(json, reading);
    if (begin !== undefined) {
      line = { type: 'beginExecution', executionId: begin.workflowId, operationOrder: [begin.root] };
    }
  }
  return line === undefined ? { ok: false, issues: reading.issues } : accept({ kind: 'line', line }, reading.warnings);
}

function asMessage(outcome: Outcome<Workflow>, options: WorkflowRunOptions): Outcome<WorkflowMessage> {
  return outcome.ok ? accept({ kind: 'workflow', workflow: outcome.value, options }, outcome.warnings) : outcome;
}

/** The id of the envelope is the execution id if the workflow has none. */
function withId<T extends { readonly workflow: Workflow }>(request: T, id: string | null): T {
  const { workflow } = request;
  if (workflow.executionId !== null || id === null || id.length > Id.maxLength || !ID.test(id)) return request;
  return { ...request, workflow: { ...workflow, executionId: id } };
}

/** The non-empty envelope fields that a workflow cannot carry. */
function lossesOf(envelope: E2AEnvelope, workflow: Workflow): readonly Issue[] {
  const defaults: Readonly<Record<string, unknown>> = newEnvelope();
  const losses: Issue[] = [];
  for (const [name, value] of Object.entries(envelope)) {
    if (WRITTEN_ELSEWHERE.has(name) || isEmpty(value) || value === defaults[name]) continue;
    if (name === 'request_id' && value === workflow.executionId) continue;
    if (name === 'identity_origin' && value === 'agent') continue;
    losses.push(lost(pointerTo('', name), `a workflow has no place for ${name}`));
  }
  for (const name of Object.keys(envelope.params)) {
    if (REQUEST_FIELDS.has(name)) continue;
    losses.push(lost(pointerTo('/params', name), 'a workflow takes no other parameters'));
  }
  return losses;
}

/** The engine's result if the frame has one, otherwise the agent's answer as `results`. */
function resultOf(response: E2AResponse, executionId: string | null): ExecutionResult {
  const { result } = response.body;
  if (validators.ExecutionResult(result)) {
    const whole = result as ExecutionResult;
    return { ...whole, execution_id: executionId ?? whole.execution_id };
  }
  return {
    execution_id: executionId,
    status: 'success',
    results: isObject(result) ? result : result === undefined ? {} : { result },
    ...(response.timestamp !== null && { completed_at: response.timestamp }),
  };
}

function errorBody(error: WorkflowError, executionId: string | null): ErrorBody {
  return { ...(executionId !== null && { execution_id: executionId }), error };
}

/** The body of an `e2a.error`, which has `code`, `message` and `details`, as an error of a workflow. */
function errorOf(body: JsonObject): WorkflowError {
  const { code, message, details } = body;
  const members: JsonObject = { ...(isObject(details) && details), ...(code !== undefined && { code }) };
  return {
    type: (typeof code === 'string' && TYPE_BY_E2A_CODE.get(code)) || 'ExecutionError',
    message: typeof message === 'string' ? message : 'The execution failed.',
    ...(Object.keys(members).length > 0 && { details: members }),
  };
}

function errorOfFailure(failure: Failure): WorkflowError {
  const { issues = [], suggestions, ...others } = failure.details;
  const fixes = suggestions ?? issues.flatMap(({ suggestion }) => (suggestion === undefined ? [] : [suggestion]));
  const scalars = Object.entries(others).filter(([, value]) => SCALARS.has(typeof value));
  return withCategory({
    type: FAILURES[failure.code].workflow as WorkflowError['type'],
    message: failure.message,
    details: {
      ...(Object.fromEntries(scalars) as JsonObject),
      code: failure.code,
      ...(issues.length > 0 && { issues: issues.map((issue) => ({ ...issue })) }),
    },
    ...(fixes.length > 0 && { suggestions: [...fixes] }),
  });
}

function notOurs(json: Json): Issue {
  return {
    pointer: '',
    code: 'unknown_message',
    message: `expected a line, an array of lines, {"workflow": "…"} or an answer of the workflow server; got ${show(json)}`,
  };
}

function notAWorkflow(envelope: E2AEnvelope): Issue {
  if (envelope.method === EXECUTE) {
    const message = `params.workflow must be JSON lines in a string; got ${show(envelope.params['workflow'])}`;
    return { pointer: '/params/workflow', code: 'not_a_workflow', message };
  }
  const message = `only the method ${EXECUTE} can be written as a workflow; got ${show(envelope.method)}`;
  return { pointer: '/method', code: 'not_a_workflow', message };
}

const EXECUTE = 'workflow.execute';
const ID = new RegExp(Id.pattern);
const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);
const REQUEST_FIELDS: ReadonlySet<string> = new Set<keyof WorkflowRequest>([
  'workflow',
  'onError',
  'level',
  'timeout_ms',
]);

/** Envelope fields that a workflow carries, or that every message has. */
const WRITTEN_ELSEWHERE: ReadonlySet<string> = new Set(['protocol_version', 'provenance', 'method', 'params']);

const TYPE_BY_E2A_CODE: ReadonlyMap<string, WorkflowError['type']> = new Map(
  Object.values(FAILURES)
    .toReversed()
    .map(({ e2a, workflow }) => [e2a, workflow as WorkflowError['type']]),
);

import { Question } from '../e2a/question.ts';
import type { JsonObject } from '../json.ts';
import { Opaque, OpaqueObject, SCHEMA_BASE } from '../schema.ts';
import type { Static, Typed } from '../static.ts';
import { OPERATION_NAMES, type OperationName } from './operation.ts';
import { Id } from './value.ts';

/** The URL under which the schema of an operation's configuration is published. */
export function operationSchemaId(name: OperationName): string {
  const file = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  return `${SCHEMA_BASE}/a2e-workflow/${file}.json`;
}

/**
 * Exactly one operation, under its name. The spec's own schema closes this object without listing a name, so that
 * nothing at all would be valid; here the names are listed. The value of each name has its own schema.
 */
const OneOperation = {
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  properties: Object.fromEntries(
    OPERATION_NAMES.map((name) => [name, { type: 'object', description: operationSchemaId(name) }]),
  ),
  additionalProperties: false,
} as unknown as Typed<JsonObject>;

/** Defines an operation (A2E workflow, Operation Update). */
export const OperationUpdate = {
  type: 'object',
  required: ['type', 'operationId', 'operation'],
  properties: { type: { const: 'operationUpdate' }, operationId: Id, operation: OneOperation },
  additionalProperties: false,
} as const;
export type OperationUpdate = Static<typeof OperationUpdate>;

export const LONGEST_ORDER = 100;

/** Starts the defined operations (A2E workflow, Begin Execution). */
export const BeginExecution = {
  type: 'object',
  required: ['type', 'executionId', 'operationOrder'],
  properties: {
    type: { const: 'beginExecution' },
    executionId: Id,
    operationOrder: { type: 'array', items: Id, minItems: 1, maxItems: LONGEST_ORDER },
  },
  additionalProperties: false,
} as const;
export type BeginExecution = Static<typeof BeginExecution>;

/** The other JSONL form: many operations on one line, each with its own `id`. Read, never written. */
export const BundledUpdate = {
  type: 'object',
  required: ['operationUpdate'],
  properties: {
    operationUpdate: {
      type: 'object',
      required: ['operations'],
      properties: {
        workflowId: Id,
        operations: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['id', 'operation'],
            properties: { id: Id, operation: OpaqueObject },
            additionalProperties: false,
          },
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;
export type BundledUpdate = Static<typeof BundledUpdate>;

/** The other JSONL form's start: the root runs first, then every other operation as defined. */
export const BundledBegin = {
  type: 'object',
  required: ['beginExecution'],
  properties: {
    beginExecution: {
      type: 'object',
      required: ['workflowId', 'root'],
      properties: { workflowId: Id, root: Id },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;
export type BundledBegin = Static<typeof BundledBegin>;

export const LEVELS = ['strict', 'moderate', 'lenient'] as const;
export type Level = (typeof LEVELS)[number];

/** The body of `POST /api/v1/workflows/validate`, `plan` and `execute`. */
export const WorkflowRequest = {
  type: 'object',
  required: ['workflow'],
  properties: {
    /** JSON lines, or the same messages as an array. */
    workflow: { type: ['string', 'array'], items: { type: 'object' } },
    onError: { enum: ['stop', 'continue'] },
    level: { enum: LEVELS },
    // The server sets a maximum.
    timeout_ms: { type: 'integer', minimum: 1 },
  },
  additionalProperties: false,
} as const;
export type WorkflowRequest = Static<typeof WorkflowRequest>;

export const ERROR_TYPES = [
  'ValidationError',
  'PermissionError',
  'ExecutionError',
  'TimeoutError',
  'DataError',
] as const;

/** An error (A2E workflow, Error Response Format). */
export const WorkflowError = {
  type: 'object',
  required: ['type', 'message'],
  properties: {
    type: { enum: ERROR_TYPES },
    message: { type: 'string' },
    operationId: Id,
    category: { type: 'string' },
    details: OpaqueObject,
    suggestions: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
} as const;
export type WorkflowError = Static<typeof WorkflowError>;

export const ErrorBody = {
  type: 'object',
  required: ['error'],
  properties: { execution_id: { type: 'string' }, error: WorkflowError },
  additionalProperties: false,
} as const;
export type ErrorBody = Static<typeof ErrorBody>;

/** 429 (A2E workflow, Rate Limiting). `retry_after` is in whole seconds. */
export const RateLimited = {
  type: 'object',
  required: ['error', 'message', 'retry_after'],
  properties: {
    error: { type: 'string' },
    message: { type: 'string' },
    retry_after: { type: 'integer', minimum: 0 },
  },
  additionalProperties: false,
} as const;
export type RateLimited = Static<typeof RateLimited>;

/** One finding of the checker on the wire. */
export const ReportedFinding = {
  type: 'object',
  required: ['message'],
  properties: {
    severity: { enum: ['error', 'warning'] },
    code: { type: 'string' },
    message: { type: 'string' },
    operationId: { type: 'string' },
    /** Points into the line that defines the operation; without `operationId`, into the document. */
    pointer: { type: 'string' },
    suggestion: { type: 'string' },
    offset: { type: 'integer', minimum: 0 },
  },
  additionalProperties: false,
} as const;
export type ReportedFinding = Static<typeof ReportedFinding>;

export const EXECUTION_STATUSES = ['success', 'partial_success', 'error', 'running', 'cancelled', 'timeout'] as const;

/** The results of an execution, so far or final (A2E workflow, API Reference). */
export const ExecutionResult = {
  type: 'object',
  required: ['execution_id', 'status', 'results'],
  properties: {
    execution_id: { type: ['string', 'null'] },
    status: { enum: EXECUTION_STATUSES },
    /** The value each operation produced; one that was not reached is absent. */
    results: OpaqueObject,
    skipped: { type: 'array', items: Id },
    /** Present if this is the recorded result of an earlier run. */
    replayed: { const: true },
    first_run_at: { type: 'string', format: 'date-time' },
    duration_ms: { type: 'number', minimum: 0 },
    started_at: { type: ['string', 'null'], format: 'date-time' },
    completed_at: { type: ['string', 'null'], format: 'date-time' },
    error: WorkflowError,
    /** All errors, if there are several; `error` is the first. */
    errors: { type: 'array', items: WorkflowError },
    /** The warnings of `validate`. */
    warnings: { type: 'array', items: ReportedFinding },
    /** The open questions to people. */
    questions: { type: 'array', items: Question },
  },
  additionalProperties: false,
} as const;
export type ExecutionResult = Static<typeof ExecutionResult>;

const counts = { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } } as const;

/** The answer of `validate`: the spec's two lists, and a summary with counts. */
export const ValidationReport = {
  type: 'object',
  required: ['valid', 'errors', 'warnings'],
  properties: {
    valid: { type: 'boolean' },
    errors: { type: 'array', items: ReportedFinding },
    warnings: { type: 'array', items: ReportedFinding },
    summary: {
      type: 'object',
      required: ['errors', 'warnings'],
      properties: {
        errors: { type: 'integer', minimum: 0 },
        warnings: { type: 'integer', minimum: 0 },
        by_code: counts,
        by_operation: counts,
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;
export type ValidationReport = Static<typeof ValidationReport>;

/** `GET /api/v1/capabilities`. Credentials are listed without their values. */
export const Capabilities = {
  type: 'object',
  required: ['agent_id', 'capabilities'],
  properties: {
    agent_id: { type: 'string' },
    capabilities: {
      type: 'object',
      required: ['availableApis', 'availableCredentials', 'supportedOperations', 'securityConstraints'],
      properties: {
        availableApis: { type: 'array', items: { ...OpaqueObject, required: ['id'] } },
        apis: { type: 'object', additionalProperties: OpaqueObject, description: 'The same APIs by id.' },
        availableCredentials: { type: 'array', items: OpaqueObject },
        supportedOperations: { type: 'array', items: { type: 'string' } },
        knowledgeBases: { type: 'array', items: Opaque },
        securityConstraints: {
          type: 'object',
          properties: { maxExecutionTime: { type: 'integer' }, maxOperations: { type: 'integer' } },
        },
      },
    },
  },
} as const;
export type Capabilities = Static<typeof Capabilities>;

const windows = (...names: readonly string[]) =>
  ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'integer', minimum: 0 }])),
    additionalProperties: false,
  }) as unknown as Typed<Readonly<Record<string, number>>>;

const LIMITS = [
  'requests_per_minute',
  'requests_per_hour',
  'requests_per_day',
  'api_calls_per_minute',
  'api_calls_per_hour',
] as const;

/** `GET /api/v1/rate-limit/status`, with all five limits where the spec's example shows two. */
export const RateLimitStatus = {
  type: 'object',
  required: ['agent_id', 'limits', 'usage', 'remaining'],
  properties: {
    agent_id: { type: 'string' },
    limits: windows(...LIMITS),
    usage: windows(...LIMITS.map((name) => name.replace('_per_', '_last_'))),
    remaining: windows(...LIMITS),
  },
  additionalProperties: false,
} as const;
export type RateLimitStatus = Static<typeof RateLimitStatus>;

export const HEALTHY_SERVICE = 'a2e-server';

/** `GET /health`: a server that answers is healthy. */
export const Health = {
  type: 'object',
  required: ['status', 'service'],
  properties: { status: { const: 'healthy' }, service: { const: HEALTHY_SERVICE }, version: { type: 'string' } },
  additionalProperties: false,
} as const;
export type Health = Static<typeof Health>;

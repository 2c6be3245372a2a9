import { FAILURES, type Failure, type Json, type JsonObject } from '@dragoman/protocols';
import { type WorkflowError, withCategory } from '@dragoman/protocols/a2e-workflow';
import { failureOf } from '../refusals/refused.ts';

/** Thrown by an operation that cannot continue. The caller gets it in the spec's form (A2E, Error Response Format). */
export class StepError extends Error {
  readonly type: WorkflowError['type'];
  readonly details: JsonObject;
  readonly suggestions: readonly string[];

  constructor(type: WorkflowError['type'], message: string, { details = {}, suggestions = [] }: ErrorParts = {}) {
    super(message);
    this.name = 'StepError';
    this.type = type;
    this.details = details;
    this.suggestions = suggestions;
  }
}

interface ErrorParts {
  readonly details?: JsonObject;
  readonly suggestions?: readonly string[];
}

/** The error of missing data, or of data that the operation cannot use. */
export function dataError(message: string, parts?: ErrorParts): StepError {
  return new StepError('DataError', message, parts);
}

/** Thrown when a budget of the execution is used up. Ends the execution, even with `onError: continue`. */
export class OverBudget extends StepError {
  constructor(message: string, parts: ErrorParts) {
    super('ExecutionError', message, parts);
  }
}

/**
 * Any error, of an operation or of the execution itself, in the spec's form. The message of a bug of ours is not shown.
 */
export function workflowError(error: unknown, operationId?: string): WorkflowError {
  const { type, message, ...more } = typed(error);
  return withCategory({ type, message, ...(operationId !== undefined && { operationId }), ...more });
}

function typed(error: unknown): WorkflowError {
  if (error instanceof StepError) {
    const { type, message, details, suggestions } = error;
    return { type, message, details, suggestions: [...suggestions] };
  }
  const failure = failureOf(error);
  if (failure !== undefined) return fromFailure(failure);
  return { type: 'ExecutionError', message: FAILURES.internal.text, details: { code: 'internal' } };
}

/** Adds the current item to the error of an operation inside a loop. */
export function atItem(error: WorkflowError, item: { index: number; value: Json } | undefined): WorkflowError {
  if (item === undefined) return error;
  const text = JSON.stringify(item.value);
  const shown = text.length <= LONGEST_ITEM ? text : `${text.slice(0, LONGEST_ITEM)}…`;
  return {
    ...error,
    message: `${error.message} (loop index ${item.index}, item ${shown})`,
    details: { ...error.details, index: item.index, item: text.length <= LONGEST_ITEM ? item.value : shown },
  };
}

const LONGEST_ITEM = 200;

/** The URL of the call that failed, if the error is that of a call. */
export function failedUrl(error: unknown): string | undefined {
  const { url } = (error instanceof StepError ? error.details : failureOf(error)?.details) ?? {};
  return typeof url === 'string' ? url : undefined;
}

/** The error of an operation that was ended while it changed something: the outcome is unknown. */
export function withUnknownOutcome({ details, suggestions, ...parts }: WorkflowError): WorkflowError {
  const look = 'check in the API whether it was done';
  return {
    ...parts,
    details: { ...details, retryable: false, outcome: 'unknown' },
    suggestions: [...(suggestions ?? []), look],
  };
}

/** The workflow was valid before it ran, so a `ValidationError` now means the data: its content or its size. */
function typeOf(code: Failure['code']): WorkflowError['type'] {
  const type = FAILURES[code].workflow as WorkflowError['type'];
  if (type !== 'ValidationError') return type;
  return code === 'too_large' ? 'ExecutionError' : 'DataError';
}

function fromFailure({ code, message, retryable, details }: Failure): WorkflowError {
  const { suggestions = [], issues, ...rest } = details;
  // Details are JSON; the round trip drops `undefined` members.
  const plain = JSON.parse(JSON.stringify({ code, retryable, ...rest, ...(issues && { issues }) })) as JsonObject;
  return {
    type: typeOf(code),
    message,
    details: plain,
    suggestions: [...suggestions],
  };
}

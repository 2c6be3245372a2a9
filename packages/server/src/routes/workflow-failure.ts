import { FAILURES, type Failure, isObject, type JsonObject } from '@dragoman/protocols';
import { a2eWorkflowDialect } from '@dragoman/protocols/a2e-workflow';
import type { Answer } from '../http/route.ts';

/** A failure as the A2E workflow routes word it (A2E, Error Response Format and 429 Response). */
export function workflowFailure(failure: Failure): Answer {
  const message = a2eWorkflowDialect.fromFailure(failure, undefined, NO_STAMP);
  if (message === undefined) throw new Error('there is a word for every failure of a workflow');
  const body = a2eWorkflowDialect.encode(message) as JsonObject;
  return { status: FAILURES[failure.code].http, json: withOperation(body) };
}

/** Moves the operation id from the details to its own member. */
function withOperation(body: JsonObject): JsonObject {
  const { error } = body;
  if (!isObject(error) || !isObject(error['details'])) return body;
  const { operationId, ...details } = error['details'];
  if (typeof operationId !== 'string') return body;
  return { ...body, error: { ...error, operationId, details } };
}

/** The stamp of an answer without an id and a time. */
const NO_STAMP = { id: '', now: new Date(0) };

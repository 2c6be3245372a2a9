import { FAILURES, type Failure, type Issue, type JsonObject } from '@dragoman/protocols';
import type { Answer } from './route.ts';

/** A failure as RFC 9457 `application/problem+json`. `details.instance` is the id of this occurrence in the log. */
export function problemAnswer(failure: Failure): Answer {
  const { text: title, http: status } = FAILURES[failure.code];
  const { issues, suggestions, retry_after, instance } = failure.details;
  return problem({
    status,
    code: failure.code,
    title,
    detail: failure.message,
    ...(issues === undefined ? {} : { issues }),
    ...(suggestions === undefined ? {} : { suggestions }),
    ...(retry_after === undefined ? {} : { retry_after }),
    ...(typeof instance === 'string' ? { instance } : {}),
  });
}

/** A problem document for errors that only HTTP has, such as 406, 408 and 431. */
export function problem(parts: ProblemParts): Answer {
  const { status, code, title, detail = title, issues = [], suggestions = [], retry_after, instance } = parts;
  const json: JsonObject = {
    type: `urn:dragoman:problem:${code}`,
    title,
    status,
    detail,
    code,
    issues: issues.map(issueJson),
    suggestions: [...suggestions],
  };
  if (retry_after !== undefined) json['retry_after'] = Math.ceil(retry_after);
  if (instance !== undefined) json['instance'] = instance;
  return { status, headers: { 'Content-Type': PROBLEM_TYPE }, json };
}

export interface ProblemParts {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail?: string;
  readonly issues?: readonly Issue[];
  readonly suggestions?: readonly string[];
  /** Seconds. */
  readonly retry_after?: number;
  readonly instance?: string;
}

/** Whether a value is a failure. Only failures have a `fault`. */
export function isFailure(value: object | undefined): value is Failure {
  return value !== undefined && (value as Partial<Failure>).fault !== undefined;
}

function issueJson({ pointer, code, message, suggestion, offset }: Issue): JsonObject {
  return {
    pointer,
    code,
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(offset === undefined ? {} : { offset }),
  };
}

export const PROBLEM_TYPE = 'application/problem+json';

import { FORBIDDEN_KEYS, forbiddenKey } from '../forbidden-key.ts';
import * as validators from '../generated/a2a-messages.js';
import { isObject, type Json } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Issue } from '../outcome.ts';
import { segmentsOf, valueAt } from '../pointer.ts';
import type { JsonSchema } from '../schema.ts';
import { errorsOf, issuesFrom, MORE_PROBLEMS, MOST_PROBLEMS, show, type ValidatorError } from '../validation.ts';
import { suggestionFor } from './hints.ts';
import { kindOf } from './kinds.ts';
import { BaseMessage } from './message.ts';
import { PAYLOAD_STATUSES } from './payloads.ts';

/**
 * Every problem that the schemas find in a message, at most a hundred, each once.
 * The slow path: valid messages do not reach it.
 */
export function explainMessage(json: Json): Issue[] {
  const kind = isObject(json) ? kindOf(json) : undefined;
  const validate = kind?.validate ?? validators.BaseMessage;
  if (validate(json)) return [];
  const errors = errorsOf(validate);
  const special = errors.filter((error) => error.schemaPath.startsWith(SPECIAL));
  const general = errors.filter((error) => !error.schemaPath.startsWith(SPECIAL));
  // The type-specific half of a schema is stricter: problems of the base half at the same place only repeat it.
  const exact = specialIssues(special, kind?.part ?? {}, json);
  const places = new Set(exact.map(({ pointer }) => pointer));
  const issues = [...generalIssues(general, json).filter(({ pointer }) => !places.has(pointer)), ...exact];
  const reported = withoutEchoes(issues).map((issue) => pointed(issue, json));
  return errors.length >= MOST_PROBLEMS ? [...reported, MORE_PROBLEMS] : reported;
}

function generalIssues(errors: readonly ValidatorError[], json: Json): readonly Issue[] {
  const atHome = errors.map((error) => ({ ...error, schemaPath: error.schemaPath.replace(BASE, '#') }));
  return worded(atHome, BaseMessage, json);
}

function specialIssues(errors: readonly ValidatorError[], part: JsonSchema, json: Json): readonly Issue[] {
  const atHome = errors.map((error) => ({ ...error, schemaPath: error.schemaPath.replace(SPECIAL, '#/') }));
  // A response payload is one of two records. Problems of the other one are noise.
  const status = valueAt(json, '/payload/status');
  const meant = STATUSES.indexOf(status);
  const relevant = atHome.filter(({ schemaPath }) => {
    const branch = BRANCH.exec(schemaPath)?.[1];
    return branch === undefined || branch === String(meant);
  });
  const issues = worded(relevant, part, json);
  const chosen = relevant.length === atHome.length || meant >= 0 || !isObject(valueAt(json, '/payload'));
  return chosen ? issues : [...issues, statusIssue(status)];
}

function statusIssue(status: Json | undefined): Issue {
  const pointer = '/payload/status';
  if (status === undefined) return { pointer, code: 'required', message: 'status is required but missing' };
  const words = PAYLOAD_STATUSES.map(show).join(', ');
  const close = typeof status === 'string' ? nearest(status, PAYLOAD_STATUSES) : undefined;
  const message = `status must be one of ${words}; got ${show(status)}`;
  return { pointer, code: 'enum', message, ...(close !== undefined && { suggestion: `did you mean ${show(close)}?` }) };
}

/** The errors as issues. An `anyOf` error reports only that no branch matches, so it is left out. */
function worded(errors: readonly ValidatorError[], schema: JsonSchema, json: Json): readonly Issue[] {
  return issuesFrom(
    errors.filter(({ keyword }) => keyword !== 'anyOf'),
    schema,
    json,
  );
}

/**
 * Leaves out problems that repeat another one: a value that is not a string is also not in the set, and an invalid time
 * also breaks the pattern.
 */
function withoutEchoes(issues: readonly Issue[]): readonly Issue[] {
  const root = new Map(issues.filter(({ code }) => code in ECHOES).map(({ pointer, code }) => [pointer, code]));
  return issues.filter(({ pointer, code }) => ECHOES[root.get(pointer) ?? '']?.has(code) !== true);
}

/** Adds what schema errors lack: suggestions, and the codes for forbidden names and contradictions. */
function pointed(issue: Issue, json: Json): Issue {
  if (issue.code === 'unknown_field') {
    const name = segmentsOf(issue.pointer).at(-1) ?? '';
    if (FORBIDDEN_KEYS.has(name)) return forbiddenKey(issue.pointer);
    if (isContradiction(issue.pointer, json)) return contradiction(issue, name, json);
  }
  const suggestion = suggestionFor(issue, valueAt(json, issue.pointer));
  return suggestion === undefined ? issue : { ...issue, suggestion };
}

/** `data` beside an error, or `error` beside data: not an unknown field, but two answers in one. */
function isContradiction(pointer: string, json: Json): boolean {
  const isResponse = valueAt(json, '/message_type') === 'response';
  return isResponse && (pointer === '/payload/error' || pointer === '/payload/data');
}

function contradiction({ pointer }: Issue, name: string, json: Json): Issue {
  const status = show(valueAt(json, '/payload/status'));
  const message = `${name} must be absent when status is ${status}; got ${show(valueAt(json, pointer))}`;
  return { pointer, code: 'contradiction', message, suggestion: `remove ${name}, or change status` };
}

/** The statuses in the order of the branches, typed so that any value can be searched for. */
const STATUSES: readonly unknown[] = PAYLOAD_STATUSES;

/** For each problem code, the codes that only repeat it at the same place. */
const ECHOES: Readonly<Record<string, ReadonlySet<string>>> = {
  type: new Set(['enum']),
  format: new Set(['pattern']),
};

/** The schema paths of the type's own half and of the referenced base message. */
const SPECIAL = '#/allOf/1/';
const BASE = /^(?:base-message\.json|#\/allOf\/0)/;
const BRANCH = /^#\/properties\/payload\/anyOf\/(\d)\//;

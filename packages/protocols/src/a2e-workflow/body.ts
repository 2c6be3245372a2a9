import * as validators from '../generated/a2e-workflow.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Issue, type Outcome } from '../outcome.ts';
import type { JsonSchema } from '../schema.ts';
import { issuesOf, show, type Validator } from '../validation.ts';
import { forbidden, TOLERATED } from './line.ts';
import {
  Capabilities,
  ErrorBody,
  ExecutionResult,
  HEALTHY_SERVICE,
  Health,
  RateLimited,
  RateLimitStatus,
  ValidationReport,
} from './message.ts';

/** The response bodies of a server. */
export type Body =
  | { readonly kind: 'result'; readonly body: ExecutionResult }
  | { readonly kind: 'error'; readonly body: ErrorBody }
  | { readonly kind: 'rate-limited'; readonly body: RateLimited }
  | { readonly kind: 'report'; readonly body: ValidationReport }
  | { readonly kind: 'capabilities'; readonly body: Capabilities }
  | { readonly kind: 'rate-limit-status'; readonly body: RateLimitStatus }
  | { readonly kind: 'health'; readonly body: Health };

/** The kind of response body, recognised by its members; `undefined` if the object is not a response body. */
export function bodyKind(json: JsonObject): Body['kind'] | undefined {
  if (Object.hasOwn(json, 'valid') && Object.hasOwn(json, 'errors') && Object.hasOwn(json, 'warnings')) return 'report';
  const error = json['error'];
  if (typeof error === 'string') return Object.hasOwn(json, 'retry_after') ? 'rate-limited' : undefined;
  if (isObject(error) && !Object.hasOwn(json, 'status')) return Object.hasOwn(error, 'type') ? 'error' : undefined;
  if (Object.hasOwn(json, 'execution_id')) return 'result';
  if (Object.hasOwn(json, 'limits') && Object.hasOwn(json, 'usage')) return 'rate-limit-status';
  const { capabilities } = json;
  if (isObject(capabilities) && Object.hasOwn(capabilities, 'supportedOperations')) return 'capabilities';
  // Other agent servers also report their health; the service name distinguishes ours.
  return json['service'] === HEALTHY_SERVICE ? 'health' : undefined;
}

export function decodeBody(kind: Body['kind'], json: JsonObject, lenient: boolean): Outcome<Body> {
  const { validate, schema, tolerate } = BODIES[kind];
  if (validate(json)) return accept({ kind, body: json } as unknown as Body);
  const warnings: Issue[] = [];
  const read = tolerate(json, warnings);
  const issues: Issue[] = [];
  for (const issue of issuesOf(validate, schema, read).map(forbidden)) {
    (lenient && TOLERATED.has(issue.code) ? warnings : issues).push(issue);
  }
  return issues.length > 0 ? { ok: false, issues } : accept({ kind, body: read } as unknown as Body, warnings);
}

/** Accepts the variants of other servers, with a warning each. */
type Tolerance = (json: JsonObject, warnings: Issue[]) => JsonObject;

/** Reads `operation_id`, which other servers write for `operationId`. */
const errorIn: Tolerance = (json, warnings) => {
  const { error } = json;
  if (!isObject(error) || !Object.hasOwn(error, 'operation_id') || Object.hasOwn(error, 'operationId')) return json;
  const { operation_id, ...rest } = error;
  warnings.push(legacy('/error/operation_id', 'operation_id', 'operationId'));
  return { ...json, error: { ...rest, operationId: operation_id as Json } };
};

/** Rounds fractional seconds up, so that clients do not retry too early. */
const wholeSeconds: Tolerance = (json, warnings) => {
  const seconds = json['retry_after'];
  if (typeof seconds !== 'number' || Number.isInteger(seconds) || seconds < 0) return json;
  warnings.push({
    pointer: '/retry_after',
    code: 'coerced',
    message: `retry_after must be whole seconds; ${show(seconds)} is read as ${Math.ceil(seconds)}`,
  });
  return { ...json, retry_after: Math.ceil(seconds) };
};

/** Some servers write counts and one list of `issues` where the spec has two lists, or a finding as plain text. */
const twoLists: Tolerance = (json, warnings) => {
  let { issues, ...report } = json;
  if (Array.isArray(issues) && typeof json['errors'] === 'number' && typeof json['warnings'] === 'number') {
    const of = (severity: string) =>
      (issues as Json[]).filter((issue) => isObject(issue) && issue['severity'] === severity);
    report = { ...report, errors: of('error'), warnings: of('warning') };
    warnings.push(legacy('/issues', 'issues', 'errors and warnings'));
  } else if (issues !== undefined) {
    report = { ...report, issues };
  }
  for (const list of ['errors', 'warnings'] as const) {
    const findings = report[list];
    if (Array.isArray(findings)) report = { ...report, [list]: findings.map(asFinding(list, warnings)) };
  }
  // A summary of another kind has no counts, so it is left out.
  if (isObject(report['summary']) && !Object.hasOwn(report['summary'], 'errors')) {
    const { summary, ...rest } = report;
    warnings.push({ pointer: '/summary', code: 'ignored', message: `summary has no counts; got ${show(summary)}` });
    report = rest;
  }
  return report;
};

/** The spec has a list of APIs; some servers write an object by id. */
const apisAsList: Tolerance = (json, warnings) => {
  const { capabilities } = json;
  if (!isObject(capabilities)) return json;
  const { availableApis } = capabilities;
  if (!isObject(availableApis) || !Object.values(availableApis).every(isObject)) return json;
  warnings.push({
    pointer: '/capabilities/availableApis',
    code: 'coerced',
    message: 'availableApis is an object keyed by API id; it was read as a list',
    suggestion: 'write a list of APIs, each with its id',
  });
  const list = Object.entries(availableApis).map(([id, api]) => ({ id, ...(api as JsonObject) }));
  return { ...json, capabilities: { ...capabilities, availableApis: list } };
};

const asItIs: Tolerance = (json) => json;

function asFinding(list: string, warnings: Issue[]): (finding: Json, index: number) => Json {
  return (finding, index) => {
    const pointer = `/${list}/${index}`;
    if (typeof finding === 'string') {
      warnings.push({ pointer, code: 'coerced', message: `${list}[${index}] is a text; it is read as its message` });
      return { message: finding };
    }
    if (!isObject(finding) || !Object.hasOwn(finding, 'operation_id')) return finding;
    const { operation_id, ...rest } = finding;
    warnings.push(legacy(`${pointer}/operation_id`, 'operation_id', 'operationId'));
    return operation_id === null ? rest : { ...rest, operationId: operation_id as Json };
  };
}

function legacy(pointer: string, name: string, now: string): Issue {
  return { pointer, code: 'legacy_key', message: `${name} is read as ${now}`, suggestion: `write ${now}` };
}

interface BodyRow {
  readonly validate: Validator;
  readonly schema: JsonSchema;
  readonly tolerate: Tolerance;
}

const BODIES: Readonly<Record<Body['kind'], BodyRow>> = {
  result: { validate: validators.ExecutionResult, schema: ExecutionResult, tolerate: errorIn },
  error: { validate: validators.ErrorBody, schema: ErrorBody, tolerate: errorIn },
  'rate-limited': { validate: validators.RateLimited, schema: RateLimited, tolerate: wholeSeconds },
  report: { validate: validators.ValidationReport, schema: ValidationReport, tolerate: twoLists },
  capabilities: { validate: validators.Capabilities, schema: Capabilities, tolerate: apisAsList },
  'rate-limit-status': { validate: validators.RateLimitStatus, schema: RateLimitStatus, tolerate: asItIs },
  health: { validate: validators.Health, schema: Health, tolerate: asItIs },
};

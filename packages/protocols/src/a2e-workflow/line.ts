import { FORBIDDEN_KEYS, forbiddenKey } from '../forbidden-key.ts';
import * as validators from '../generated/a2e-workflow.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo, segmentsOf } from '../pointer.ts';
import { issuesOf, show, type Validator } from '../validation.ts';
import { canonicalConfig, memberIssues } from './member.ts';
import { BeginExecution, BundledBegin, BundledUpdate, OperationUpdate } from './message.ts';
import { namesWith, type OperationName, type OwnOperations, operationNamed } from './operation.ts';
import type { OperationDescription } from './operations/description.ts';
import { isPlainConfig } from './plain.ts';
import { nestingFix, withSynonym } from './synonym.ts';
import { unknownOperation } from './unknown-name.ts';

/** One line of a workflow, in the spec's form. */
export type Line = OperationUpdate | BeginExecution;

/** The options for reading a line, and the lists that its problems are added to. */
export interface LineReading {
  /** The pointer to the line, which every issue's pointer starts with. */
  readonly at: string;
  readonly lenient: boolean;
  /** Custom operations of the server. */
  readonly operations?: OwnOperations;
  readonly issues: Issue[];
  readonly warnings: Issue[];
}

/** Whether the value has the shape of a line, in either form. Its content is not checked. */
export function isLine(json: Json | undefined): json is JsonObject {
  return isObject(json) && (isSpecLine(json) || isBundledLine(json));
}

/** The form of the spec: `type` names the kind of line. */
export function isSpecLine(json: JsonObject): boolean {
  return json['type'] === 'operationUpdate' || json['type'] === 'beginExecution';
}

/** The other form: the only key names the kind of line. */
export function isBundledLine(json: JsonObject): boolean {
  return BUNDLED.some((key) => Object.hasOwn(json, key)) && Object.keys(json).length === 1;
}

/** Reads `{"type": "operationUpdate" | "beginExecution"}`; `undefined` when it found issues. */
export function readSpecLine(json: JsonObject, reading: LineReading): Line | undefined {
  if (json['type'] === 'beginExecution') {
    const found = issuesOf(validators.BeginExecution, BeginExecution, json).map(forbidden);
    return settle(found, reading) ? (json as BeginExecution) : undefined;
  }
  return isPlainUpdate(json) ? json : readUpdate(json, reading);
}

/** Reads `{"operationUpdate": {"operations": […]}}` as the equivalent lines of the spec. */
export function readBundledUpdate(json: JsonObject, reading: LineReading): readonly OperationUpdate[] | undefined {
  const found = issuesOf(validators.BundledUpdate, BundledUpdate, json).map(forbidden);
  if (!settle(found, reading)) return undefined;
  const { operations } = (json as BundledUpdate).operationUpdate;
  const lines = operations.map(({ id, operation }, index): OperationUpdate | undefined => {
    const at = pointerTo('', 'operationUpdate', 'operations', index);
    const read = readOperation(operation as JsonObject, pointerTo(at, 'operation'), reading);
    if (!settle(idIssues(id, pointerTo(at, 'id')), reading) || read === undefined) return undefined;
    return { type: 'operationUpdate', operationId: id, operation: read };
  });
  reading.warnings.push({
    pointer: pointerTo(reading.at, 'operationUpdate'),
    code: 'bundled_form',
    message: `operationUpdate as a key is the bundled form; it is read as ${lines.length === 1 ? 'a line' : `${lines.length} lines`} of type operationUpdate`,
    suggestion: 'write {"type":"operationUpdate","operationId":…,"operation":…}, one a line',
  });
  return lines.includes(undefined) ? undefined : (lines as OperationUpdate[]);
}

/** Reads `{"beginExecution": {"workflowId", "root"}}`. Its order depends on what the document defines. */
export function readBundledBegin(json: JsonObject, reading: LineReading): BundledBegin['beginExecution'] | undefined {
  const found = issuesOf(validators.BundledBegin, BundledBegin, json).map(forbidden);
  if (!settle(found, reading)) return undefined;
  reading.warnings.push({
    pointer: pointerTo(reading.at, 'beginExecution'),
    code: 'bundled_form',
    message:
      'beginExecution as a key is the bundled form; workflowId is read as executionId, and root runs first, then every other operation as defined',
    suggestion: 'write {"type":"beginExecution","executionId":…,"operationOrder":[…]}',
  });
  return (json as BundledBegin).beginExecution;
}

/** `dataModelUpdate` of the bundled form: no executor reads it, so a warning reports that it has no effect. */
export function dataModelIgnored(at: string): Issue {
  return {
    pointer: pointerTo(at, 'dataModelUpdate'),
    code: 'ignored',
    message: 'dataModelUpdate has no effect: the data model starts empty and operations fill it',
    suggestion: 'write the values into the operations that need them',
  };
}

/** The fast path: whether a line has no problems and needs no corrections. */
export function isPlainUpdate(json: JsonObject): json is OperationUpdate {
  if (!validators.OperationUpdate(json)) return false;
  const { operationId, operation } = json as OperationUpdate;
  if (FORBIDDEN_KEYS.has(operationId)) return false;
  for (const name in operation) {
    const description = operationNamed(name);
    const config = operation[name] as JsonObject;
    if (description === undefined || !VALIDATORS[name as OperationName](config)) return false;
    if (!isPlainConfig(description, config)) return false;
  }
  return true;
}

function readUpdate(json: JsonObject, reading: LineReading): OperationUpdate | undefined {
  const outer = issuesOf(validators.OperationUpdate, OperationUpdate, json)
    // `readOperation` reports problems of the operation itself.
    .filter(({ pointer }) => segmentsOf(pointer).length < 2)
    .map(forbidden)
    .map((issue) => withNesting(issue, json['operation'], reading));
  const { operationId, operation } = json;
  const fine = settle([...outer, ...idIssues(operationId, '/operationId')], reading);
  const read = isObject(operation) ? readOperation(operation, '/operation', reading) : undefined;
  return fine && read !== undefined ? ({ ...json, operation: read } as OperationUpdate) : undefined;
}

function withNesting(issue: Issue, operation: Json | undefined, { operations }: LineReading): Issue {
  if (issue.pointer !== '/operation' || !isObject(operation)) return issue;
  const suggestion = nestingFix(operation, namesWith(operations));
  return suggestion === undefined ? issue : { ...issue, suggestion };
}

/** Reads `{"ApiCall": {…}}` into the spec's form; `undefined` if it found issues. */
function readOperation(operation: JsonObject, at: string, reading: LineReading): JsonObject | undefined {
  const names = Object.keys(operation);
  if (names.length !== 1) {
    if (at !== '/operation') settle([countIssue(names.length, at)], reading);
    return undefined;
  }
  const [name = ''] = names;
  const pointer = pointerTo(at, name);
  const config = operation[name];
  if (!isObject(config)) {
    settle([{ pointer, code: 'type', message: `${name} must be an object; got ${show(config)}` }], reading);
    return undefined;
  }
  const description = operationNamed(name, reading.operations);
  if (description === undefined) {
    const unknown = FORBIDDEN_KEYS.has(name)
      ? forbiddenKey(pointer)
      : { pointer, ...unknownOperation(name, reading.operations) };
    return settle([unknown], reading) ? operation : undefined;
  }
  const canonical = canonicalConfig(description.aliases ?? [], config);
  const own = [...memberIssues(description, canonical.config), ...(description.inspect?.(canonical.config) ?? [])];
  const validate = description.validate ?? VALIDATORS[name as OperationName];
  const found = issuesOf(validate, description.schema, canonical.config)
    // The path parser reports pattern and length problems in more detail.
    .filter(({ code, pointer: at }) => !HINTS.has(code) || !own.some((other) => other.pointer === at))
    .map((issue) => withSynonym(name, description.schema, forbidden(issue)));
  for (const warning of canonical.warnings) {
    reading.warnings.push({ ...warning, pointer: reading.at + pointer + warning.pointer });
  }
  const issues = [...found, ...own].map((issue) => ({ ...issue, pointer: pointer + issue.pointer }));
  return settle(issues, reading) ? { [name]: canonical.config } : undefined;
}

/** An issue for each value of a configuration that is not in its enum. Pointers are relative to the configuration. */
export function valueIssues(name: string, description: OperationDescription, config: JsonObject): readonly Issue[] {
  const validate = description.validate ?? VALIDATORS[name as OperationName];
  const found = validate(config) ? [] : issuesOf(validate, description.schema, config);
  return [...found, ...(description.inspect?.(config) ?? [])].filter(({ code }) => code === 'enum');
}

/** Adds each issue to errors or warnings; false if one is an error. */
function settle(issues: readonly Issue[], reading: LineReading): boolean {
  let fine = true;
  for (const issue of issues) {
    const placed = { ...issue, pointer: reading.at + issue.pointer };
    if (reading.lenient && TOLERATED.has(issue.code)) {
      reading.warnings.push(placed);
    } else {
      reading.issues.push(placed);
      fine = false;
    }
  }
  return fine;
}

/** Operation ids become keys of `results`, so names such as `__proto__` are refused. */
function idIssues(id: Json | undefined, pointer: string): readonly Issue[] {
  if (typeof id !== 'string' || !FORBIDDEN_KEYS.has(id)) return [];
  return [{ pointer, code: 'forbidden_key', message: `${id} must not be an operation's id` }];
}

function countIssue(count: number, pointer: string): Issue {
  const code = count === 0 ? 'too_few' : 'too_many';
  return { pointer, code, message: `operation must have exactly 1 member, the operation's name; got ${count}` };
}

/**
 * Lenient reading tolerates unknown fields, except those with dangerous names such as `__proto__`: their code is
 * changed to one that is not tolerated.
 */
export function forbidden(issue: Issue): Issue {
  const name = issue.code === 'unknown_field' ? segmentsOf(issue.pointer).at(-1) : undefined;
  if (name === undefined || !FORBIDDEN_KEYS.has(name)) return issue;
  return forbiddenKey(issue.pointer);
}

/** Problems that a lenient reader accepts with a warning. */
export const TOLERATED: ReadonlySet<string> = new Set([
  'unknown_field',
  'enum',
  'unknown_operation',
  'body_not_allowed',
]);

const HINTS: ReadonlySet<string> = new Set(['pattern', 'too_long']);
const VALIDATORS: Readonly<Record<OperationName, Validator>> = validators;
const BUNDLED = ['operationUpdate', 'beginExecution', 'dataModelUpdate'] as const;

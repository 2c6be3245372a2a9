import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  canonicalJson,
  type Issue,
  isObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  parseJson,
} from '@dragoman/protocols';
import { type Finding, operationNamed, usesOf } from '@dragoman/protocols/a2e-workflow';
import { faultsIn, planForAll } from '../executions/planner.ts';
import type { ParsedRequest } from '../executions/workflow-request.ts';
import type { WorkflowService } from '../executions/workflows.ts';
import { type Blank, blanksIn, filled } from './workflow-blanks.ts';

/** The parts of the workflow service that read and check workflows. */
export type WorkflowRules = Pick<WorkflowService, 'reader' | 'limits' | 'catalog'>;

/** A workflow with blanks: `{{name}}` is replaced by an argument. */
export class ToolWorkflow {
  readonly blanks: readonly Blank[];
  readonly #lines: readonly Json[];

  /** Reads a file. Returns a fault if the workflow is invalid for all arguments. */
  static in(path: string, rules: WorkflowRules): ToolWorkflow | WorkflowFault {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      return { fault: `the workflow ${path} cannot be read: ${(error as Error).message}`, issues: [] };
    }
    return ToolWorkflow.of(text, { source: path, rules });
  }

  /** Reads a text; faults name it by `source`. */
  static of(text: string, { source, rules }: { source: string; rules: WorkflowRules }): ToolWorkflow | WorkflowFault {
    const written: Written[] = [];
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const json = parseJson(line);
      if (!json.ok) {
        const message = `line ${index + 1} of ${source} is not JSON: ${json.issues[0]?.message}`;
        return { fault: message, issues: [{ pointer: '/workflow', code: 'not_json', message }] };
      }
      written.push({ line: json.value, number: index + 1 });
    }
    const issues = issuesIn(written, rules);
    const [first] = issues;
    if (first !== undefined) return { fault: `the workflow ${source} cannot be run: ${sentenceOf(first)}`, issues };
    return new ToolWorkflow(written.map(({ line }) => line));
  }

  private constructor(lines: readonly Json[]) {
    this.#lines = lines;
    this.blanks = blanksIn([...lines]);
  }

  /** JSON Schema of the arguments. */
  get inputs(): JsonSchema {
    return {
      type: 'object',
      required: this.blanks.map(({ name }) => name),
      properties: Object.fromEntries(this.blanks.map(({ name, isText }) => [name, isText ? TEXT : {}])),
      additionalProperties: false,
    };
  }

  /** The stored workflows that it runs, except those whose name is an argument. */
  get runs(): readonly string[] {
    const names = this.#lines.flatMap(operationsOf).map((operation) => nameRunBy(operation));
    return [...new Set(names.filter((name) => name !== undefined))];
  }

  /** The hash of its plan; with blanks, whose plan depends on the arguments, the hash of its lines. */
  planHash({ reader, limits, catalog }: WorkflowRules): string {
    const read = this.blanks.length === 0 ? reader.read({ workflow: this.textFor({}, 'x') }) : undefined;
    const planned = read?.ok === true ? planForAll(read.request, { limits, catalog }) : undefined;
    if (planned?.ok === true) return planned.plan.hash;
    return hash('sha256', canonicalJson({ catalogue: catalog.version, lines: [...this.#lines] }), 'base64url');
  }

  /** Its lines with the blanks filled. */
  textFor(args: JsonObject, executionId: string): string {
    return textOf(this.#lines, args, executionId);
  }
}

/** Why a workflow cannot be run: as one sentence, and as separate issues. */
export interface WorkflowFault {
  readonly fault: string;
  readonly issues: readonly Issue[];
}

/** A line of the file, counted from 1. */
interface Written {
  readonly line: Json;
  readonly number: number;
}

/**
 * The issues that exist for all arguments. A line with a blank, and the whole if such a line is invalid, cannot be
 * judged before the blank is filled.
 */
function issuesIn(written: readonly Written[], rules: WorkflowRules): readonly Issue[] {
  const lines = written.map(({ line }) => line);
  const open = new Set(lines.flatMap((line, index) => (blanksIn(line).length > 0 ? [String(index)] : [])));
  const anything = Object.fromEntries(blanksIn(lines).map(({ name }) => [name, ANYTHING]));
  const read = rules.reader.read({ workflow: textOf(lines, anything, 'x') });
  if (!read.ok && 'failure' in read) return [{ pointer: '/workflow', code: 'workflow', message: read.failure.message }];
  const issues = read.ok ? faultsOf(read.request, rules) : read.issues;
  const placed = issues.map((issue) => ({ ...issue, index: placeOf(issue, lines) }));
  const isOpen = placed.some(({ index }) => open.has(index));
  return placed
    .filter(({ index }) => (index === '' ? !isOpen : !open.has(index)))
    .map(({ index, code, message, suggestion }) => {
      const number = index === '' ? undefined : written[Number(index)]?.number;
      const words = message.replace(/^line \d+: /, '');
      return {
        pointer: '/workflow',
        code,
        message: number === undefined ? words : `line ${number}: ${words}`,
        ...(suggestion !== undefined && { suggestion }),
      };
    });
}

function sentenceOf({ message, suggestion }: Issue): string {
  return suggestion === undefined ? message : `${message} (${suggestion})`;
}

/**
 * Findings about the workflow. None if an argument decides where an operation writes or which one follows it, because
 * all findings depend on that.
 */
function faultsOf(request: ParsedRequest, { limits, catalog }: WorkflowRules): readonly Finding[] {
  const { operations, order } = request.workflow;
  const ties = [...operations.values()].map(({ id, type, config }) => {
    const description = operationNamed(type, catalog.own);
    const { writes = [], targets = [] } = description === undefined ? {} : usesOf(description, config);
    return [id, writes.map(({ path }) => path.keys), targets.map((target) => target.id)];
  });
  return JSON.stringify([order, ties]).includes(ANYTHING) ? [] : faultsIn(request, { limits, catalog });
}

/**
 * The index of the line that an issue is about: that of the named operation, or the one that it points to. Empty for
 * the whole workflow.
 */
function placeOf({ operationId, pointer }: Finding, lines: readonly Json[]): string {
  const defining = operationId === undefined ? -1 : lines.findIndex((line) => defines(line, operationId));
  return defining === -1 ? (LINE.exec(pointer)?.[1] ?? '') : String(defining);
}

function defines(line: Json, operationId: string): boolean {
  if (!isObject(line)) return false;
  const { operationUpdate: bundle } = line;
  const bundled = isObject(bundle) && Array.isArray(bundle['operations']) ? bundle['operations'] : [];
  return line['operationId'] === operationId || bundled.some((one) => isObject(one) && one['id'] === operationId);
}

/** The operations that a line defines, in either form. */
function operationsOf(line: Json): readonly Json[] {
  if (!isObject(line)) return [];
  const { operation, operationUpdate: bundle } = line;
  const bundled = isObject(bundle) && Array.isArray(bundle['operations']) ? bundle['operations'] : [];
  return [operation ?? null, ...bundled.map((one) => (isObject(one) ? (one['operation'] ?? null) : null))];
}

function nameRunBy(operation: Json): string | undefined {
  const config = isObject(operation) ? operation['RunWorkflow'] : undefined;
  const name = isObject(config) ? config['name'] : undefined;
  return typeof name === 'string' && blanksIn(name).length === 0 ? name : undefined;
}

function textOf(lines: readonly Json[], args: JsonObject, executionId: string): string {
  return lines.map((line) => JSON.stringify(withExecutionId(filled(line, args), executionId))).join('\n');
}

/** Sets a new execution id, because a repeated one would return the earlier answer. */
function withExecutionId(line: Json, executionId: string): Json {
  return isObject(line) && line['type'] === 'beginExecution' ? { ...line, executionId } : line;
}

const TEXT = { type: ['string', 'number', 'boolean'] };
const LINE = /^\/workflow\/(\d+)/;
/** Fills blanks while the workflow is checked. */
const ANYTHING = 'x-of-a-blank-x';

import { isObject, type Json, type JsonObject, parseJson } from '../json.ts';
import type { JsonLimits } from '../json-explain.ts';
import { nearest } from '../nearest.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { MORE_PROBLEMS, MOST_PROBLEMS, show } from '../validation.ts';
import {
  dataModelIgnored,
  isBundledLine,
  isSpecLine,
  type LineReading,
  readBundledBegin,
  readBundledUpdate,
  readSpecLine,
} from './line.ts';
import { nameOf, type Target, usesOf } from './member.ts';
import { type Level, LONGEST_ORDER, type OperationUpdate } from './message.ts';
import { type OwnOperations, operationNamed } from './operation.ts';
import { recordsOf, type WorkflowRecord } from './records.ts';
import { runOrder } from './run-order.ts';
import { undefinedOperation } from './unknown-name.ts';

/** A whole workflow: its operations and their order. */
export interface Workflow {
  /** `null` without a `beginExecution`: the server generates an id. */
  readonly executionId: string | null;
  /** By id, in the order of definition. */
  readonly operations: ReadonlyMap<string, WorkflowOperation>;
  readonly order: readonly string[];
}

export interface WorkflowOperation {
  readonly id: string;
  /** A name of `OPERATIONS`; lenient reading also accepts others, which the checker refuses. */
  readonly type: string;
  readonly config: JsonObject;
}

export interface ReadOptions {
  /** At `strict` an id defined twice is an error. */
  readonly level?: Level;
  readonly lenient?: boolean;
  /** Custom operations of the server. */
  readonly operations?: OwnOperations;
  /** The limits for the JSON of each line. */
  readonly jsonLimits?: JsonLimits;
  /** The position of the text or list in a larger message. */
  readonly at?: string;
}

/** Reads JSON lines. Blank lines and CRLF are accepted; a problem names its line and its `offset` in the text. */
export function parseWorkflow(text: string, options: ReadOptions = {}): Outcome<Workflow> {
  const { at = '', jsonLimits } = options;
  if (text.trimStart().startsWith('```')) return reject(fenced(at));
  const list = wholeList(text, jsonLimits);
  if (list !== undefined) return readWorkflow(list, options);
  const reader = new DocumentReader(options);
  for (const [index, record] of recordsOf(text).entries()) {
    if (reader.isFull) break;
    if (record.text.trim() === '') continue;
    const parsed = parseJson(record.text, jsonLimits);
    if (parsed.ok) reader.add(parsed.value, pointerTo(at, index), `line ${record.line}: `);
    else for (const issue of parsed.issues) reader.refuse(fromRecord(issue, pointerTo(at, index), record));
  }
  return reader.finish();
}

/** Reads lines that are already JSON. */
export function readWorkflow(lines: readonly Json[], options: ReadOptions = {}): Outcome<Workflow> {
  const { at = '' } = options;
  const reader = new DocumentReader(options);
  for (const [index, line] of lines.entries()) {
    if (reader.isFull) break;
    reader.add(line, pointerTo(at, index), '');
  }
  return reader.finish();
}

/** Reads a single line as a workflow. */
export function readLoneLine(line: Json, options: ReadOptions = {}): Outcome<Workflow> {
  const reader = new DocumentReader(options);
  reader.add(line, '', '');
  return reader.finish();
}

/** The workflow as compact JSON lines in the spec's form. */
export function encodeWorkflow(workflow: Workflow): string {
  const lines: Json[] = [...workflow.operations.values()].map(({ id, type, config }) => ({
    type: 'operationUpdate',
    operationId: id,
    operation: { [type]: config },
  }));
  if (workflow.executionId !== null) {
    lines.push({ type: 'beginExecution', executionId: workflow.executionId, operationOrder: [...workflow.order] });
  }
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

interface Begin {
  readonly prefix: string;
  readonly executionId: string;
  readonly order: readonly string[];
  /** The pointer to the order's entry at `index`. */
  readonly pointerOf: (index: number) => string;
}

/** Reads lines one by one. A workflow is frozen at `beginExecution`. */
class DocumentReader {
  readonly #options: ReadOptions;
  readonly #issues: Issue[] = [];
  readonly #warnings: Issue[] = [];
  /** Where each operation was defined. */
  readonly #definitions = new Map<string, { at: string; prefix: string }>();
  readonly #operations = new Map<string, WorkflowOperation>();
  #begin: Begin | undefined;
  /** A line could not be read. */
  #broken = false;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  add(json: Json, at: string, prefix: string): void {
    const { lenient = false, operations = {} } = this.#options;
    const reading: LineReading = { at, lenient, operations, issues: [], warnings: [] };
    this.#read(json, reading, prefix);
    for (const issue of reading.issues) this.refuse({ ...issue, message: prefix + issue.message });
    for (const issue of reading.warnings) {
      if (this.#warnings.length < MOST_PROBLEMS) this.#warnings.push({ ...issue, message: prefix + issue.message });
    }
  }

  refuse(issue: Issue): void {
    if (!this.isFull) this.#issues.push(issue);
    this.#broken = true;
  }

  /** The limit of reported problems is reached: the remaining lines are not read. */
  get isFull(): boolean {
    return this.#issues.length >= MOST_PROBLEMS;
  }

  finish(): Outcome<Workflow> {
    const { at = '' } = this.#options;
    // Unreadable lines may have defined anything, so problems that follow from them are not reported.
    if (!this.#broken) {
      if (this.#begin === undefined) this.#warnings.push(noBegin(at));
      if (this.#operations.size === 0) this.#issues.push(empty(at));
      else for (const issue of this.#undefinedReferences()) this.refuse(issue);
    }
    if (this.#issues.length > 0) return { ok: false, issues: listed(this.#issues, at) };
    const { executionId = null, order = this.#impliedOrder() } = this.#begin ?? {};
    return accept({ executionId, operations: this.#operations, order }, listed(this.#warnings, at));
  }

  #read(json: Json, reading: LineReading, prefix: string): void {
    if (!isObject(json)) {
      const message = `a line must be a JSON object; got ${show(json)}`;
      const suggestion = Array.isArray(json) ? 'write each of its items on a separate line' : undefined;
      reading.issues.push({
        pointer: reading.at,
        code: 'type',
        message,
        ...(suggestion !== undefined && { suggestion }),
      });
    } else if (isSpecLine(json)) {
      const line = readSpecLine(json, reading);
      if (line?.type === 'beginExecution') {
        const { executionId, operationOrder: order } = line;
        const pointerOf = (index: number) => pointerTo(reading.at, 'operationOrder', index);
        this.#start({ executionId, order, prefix, pointerOf }, reading);
      } else if (line !== undefined) {
        this.#define(line, pointerTo(reading.at, 'operation'), reading, prefix);
      }
    } else if (isBundledLine(json)) {
      this.#readBundled(json, reading, prefix);
    } else {
      const unknown = unknownLine(json, reading.at);
      (reading.lenient ? reading.warnings : reading.issues).push(unknown);
    }
  }

  #readBundled(json: JsonObject, reading: LineReading, prefix: string): void {
    if (Object.hasOwn(json, 'dataModelUpdate')) {
      reading.warnings.push(dataModelIgnored(reading.at));
    } else if (Object.hasOwn(json, 'operationUpdate')) {
      for (const [index, line] of (readBundledUpdate(json, reading) ?? []).entries()) {
        const at = pointerTo(reading.at, 'operationUpdate', 'operations', index, 'operation');
        this.#define(line, at, reading, prefix);
      }
    } else {
      const begin = readBundledBegin(json, reading);
      if (begin === undefined) return;
      // The order is computed once, for the first such line.
      const order = this.#begin === undefined ? this.#orderFrom(begin.root) : [];
      const root = pointerTo(reading.at, 'beginExecution', 'root');
      if (order.length > LONGEST_ORDER) reading.issues.push(tooLong(root, order.length));
      this.#start({ executionId: begin.workflowId, order, prefix, pointerOf: () => root }, reading);
    }
  }

  #define({ operationId: id, operation }: OperationUpdate, at: string, reading: LineReading, prefix: string): void {
    if (this.#begin !== undefined) {
      reading.issues.push(afterBegin(reading.at, `${show(id)} is defined`));
      return;
    }
    if (this.#operations.has(id)) this.#redefined(id, reading);
    const [type = ''] = Object.keys(operation);
    this.#operations.set(id, { id, type, config: operation[type] as JsonObject });
    this.#definitions.set(id, { at: pointerTo(at, type), prefix });
  }

  /** In a stream, a later line may replace an earlier one; in one document, a repeated id is probably a mistake. */
  #redefined(id: string, reading: LineReading): void {
    const issue = {
      pointer: pointerTo(reading.at, 'operationId'),
      code: 'duplicate_operation',
      message: `operationId ${show(id)} is defined twice; the later definition replaces the earlier`,
      suggestion: 'give one of them another id',
    };
    (this.#options.level === 'strict' ? reading.issues : reading.warnings).push(issue);
  }

  #start(begin: Begin, reading: LineReading): void {
    if (this.#begin !== undefined) reading.issues.push(afterBegin(reading.at, 'a second beginExecution'));
    else this.#begin = begin;
  }

  #orderFrom(root: string): readonly string[] {
    return [root, ...this.#impliedOrder().filter((id) => id !== root)];
  }

  /** The order of definition, without the targets of Conditionals and Loops, which run only when reached. */
  #impliedOrder(): readonly string[] {
    const operations = this.#operations;
    const ids = [...operations.keys()];
    const free = runOrder({ order: ids, operations }, this.#options.operations);
    return free.length > 0 ? free : ids;
  }

  /** The operations that a Conditional or Loop runs. */
  #targetsOf({ type, config }: WorkflowOperation): readonly Target[] {
    const description = operationNamed(type, this.#options.operations);
    return description === undefined ? [] : usesOf(description, config).targets;
  }

  #undefinedReferences(): readonly Issue[] {
    const known = this.#operations;
    const inBranches = [...known.values()].flatMap((operation) => {
      const { at, prefix } = this.#definitions.get(operation.id) ?? { at: '', prefix: '' };
      return this.#targetsOf(operation)
        .filter(({ id }) => !known.has(id))
        .map(({ id, pointer }) => ({ id, pointer: at + pointer, name: prefix + nameOf(pointer) }));
    });
    const { order = [], pointerOf = String, prefix = '' } = this.#begin ?? {};
    const inOrder = order.flatMap((id, index) => {
      const name = `${prefix}operationOrder[${index}]`;
      return known.has(id) ? [] : [{ id, pointer: pointerOf(index), name }];
    });
    // The suggestion compares an id with every defined one, so only the reported ids get one.
    const reported = [...inBranches, ...inOrder].slice(0, MOST_PROBLEMS);
    return reported.map(({ id, pointer, name }) => ({ pointer, ...undefinedOperation(id, name, known.keys()) }));
  }
}

/** Marks a truncated list. */
function listed(issues: readonly Issue[], pointer: string): readonly Issue[] {
  return issues.length < MOST_PROBLEMS ? issues : [...issues, { ...MORE_PROBLEMS, pointer }];
}

function tooLong(pointer: string, count: number): Issue {
  const message = `operationOrder may have at most ${LONGEST_ORDER} operations; with root it has ${count}`;
  return { pointer, code: 'too_many', message };
}

function unknownLine(json: JsonObject, at: string): Issue {
  const type = json['type'];
  const expected = 'expected operationUpdate or beginExecution';
  if (type === undefined) {
    return { pointer: pointerTo(at, 'type'), code: 'required', message: `type is required but missing; ${expected}` };
  }
  const close = typeof type === 'string' ? nearest(type, ['operationUpdate', 'beginExecution']) : undefined;
  return {
    pointer: pointerTo(at, 'type'),
    code: 'unknown_line',
    message: `type ${show(type)} is not a line of a workflow; ${expected}`,
    ...(close !== undefined && { suggestion: `did you mean ${close}?` }),
  };
}

function afterBegin(pointer: string, what: string): Issue {
  return {
    pointer,
    code: 'after_begin',
    message: `${what} after beginExecution; a workflow is frozen when it begins`,
    suggestion: 'make beginExecution the last line',
  };
}

function empty(pointer: string): Issue {
  return { pointer, code: 'empty_workflow', message: 'a workflow must define at least one operation; got none' };
}

function noBegin(pointer: string): Issue {
  return {
    pointer,
    code: 'missing_begin',
    message:
      'beginExecution is missing: operations run in the order of their definition, under an id that the server generates',
    suggestion: 'end with {"type":"beginExecution","executionId":…,"operationOrder":[…]}',
  };
}

/** Reads a text that is one JSON array of lines. A line is an object, so JSON lines never start with `[`. */
function wholeList(text: string, jsonLimits?: JsonLimits): readonly Json[] | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[')) return undefined;
  const parsed = parseJson(trimmed, jsonLimits);
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value : undefined;
}

function fenced(pointer: string): Issue {
  return {
    pointer,
    code: 'markdown_fence',
    message: 'a workflow must be JSON lines; they are inside a Markdown fence (```)',
    suggestion: 'remove the fence',
  };
}

function fromRecord(issue: Issue, at: string, { text, line, offset }: WorkflowRecord): Issue {
  const { offset: inside = 0 } = issue;
  const number = line + text.slice(0, inside).split('\n').length - 1;
  return {
    ...issue,
    pointer: at + issue.pointer,
    message: `line ${number}: ${issue.message}`,
    offset: offset + inside,
  };
}

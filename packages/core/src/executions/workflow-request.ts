import {
  type Failure,
  failure,
  isObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  parseJson,
} from '@dragoman/protocols';
import {
  decodeRequest,
  type Finding,
  lineFindings,
  type OwnOperations,
  type ReadOptions,
  type RunOptions,
  type Workflow,
} from '@dragoman/protocols/a2e-workflow';
import { LRUCache } from 'lru-cache';

/** A workflow to check, plan or run, with its options. */
export interface ParsedRequest {
  readonly workflow: Workflow;
  readonly options: RunOptions;
  /** The JSON lines as received. */
  readonly text: string;
  /** Problems that were tolerated while reading the request. */
  readonly warnings: readonly Finding[];
  /**
   * The same object for requests that differ only in their execution id. Absent for long texts and texts without an id.
   */
  readonly kind?: WorkflowKind;
}

/** Facts that are the same for a workflow under another execution id. */
export interface WorkflowKind {
  /** The recorded text before and after the execution id. */
  readonly request: readonly [before: string, behind: string];
  /** Whether its plan depends on neither stored data nor credentials. */
  readonly isSelfContained: boolean;
}

/**
 * `failure`: not a request body. `issues`: a request body with invalid lines, which `validate` reports as its result.
 */
export type ParseOutcome =
  | { readonly ok: true; readonly request: ParsedRequest }
  | { readonly ok: false; readonly issues: readonly Finding[] }
  | { readonly ok: false; readonly failure: Failure };

/** Reads the body of validate, plan and execute. */
export class WorkflowRequestReader {
  readonly #options: ReadOptions;
  /** Parsed requests by their text. Parsing depends on nothing else, so entries never become outdated. */
  readonly #known = new LRUCache<string, ParsedRequest>({ max: MOST_KNOWN });

  /** `operations` are those in addition to the built-in ones; `jsonLimits` apply to each line. */
  constructor(operations: OwnOperations = {}, jsonLimits: JsonLimits = {}) {
    this.#options = { operations, jsonLimits };
  }

  read(json: Json): ParseOutcome {
    if (!isObject(json)) return { ok: false, failure: INVALID_BODY };
    const { workflow: text } = json;
    if (Array.isArray(text))
      return this.read({ ...json, workflow: text.map((line) => JSON.stringify(line)).join('\n') });
    if (typeof text !== 'string') return { ok: false, failure: INVALID_BODY };
    const named = withoutId(text);
    if (named === undefined) return this.#parse(json, text);
    const name = `${named.rest}\n${Object.keys(json).length === 1 ? '' : JSON.stringify({ ...json, workflow: '' })}`;
    // The members beside the lines can be long as well.
    if (name.length > LONGEST_KNOWN) return this.#parse(json, text);
    const known = this.#known.get(name);
    if (known !== undefined) {
      const { operations, order } = known.workflow;
      return { ok: true, request: { ...known, text, workflow: { executionId: named.id, operations, order } } };
    }
    const outcome = this.#parse(json, text);
    if (!outcome.ok || outcome.request.workflow.executionId !== named.id) return outcome;
    const request = { ...outcome.request, kind: kindOf(outcome.request, named) };
    this.#known.set(name, request);
    return { ok: true, request };
  }

  #parse(json: JsonObject, text: string): ParseOutcome {
    const outcome = decodeRequest(json, this.#options);
    if (!outcome.ok) {
      const ofTheBody = outcome.issues.filter(({ pointer }) => !pointer.startsWith('/workflow'));
      if (ofTheBody.length === 0) {
        return { ok: false, issues: lineFindings(outcome.issues, text, { at: '/workflow', severity: 'error' }) };
      }
      return { ok: false, failure: failure('invalid_message', { issues: ofTheBody }, ofTheBody[0]?.message) };
    }
    const { workflow, options } = outcome.value;
    const warnings = lineFindings(outcome.warnings, text, { at: '/workflow', severity: 'warning' });
    return { ok: true, request: { workflow, options, text, warnings } };
  }
}

/** Splits the execution id from the lines. Agents often send the same workflow under new ids, so it is parsed once. */
function withoutId(text: string): Named | undefined {
  if (text.length > LONGEST_KNOWN) return undefined;
  const at = text.lastIndexOf('"executionId"');
  if (at === -1) return undefined;
  EXECUTION_ID.lastIndex = at;
  const [written, id] = EXECUTION_ID.exec(text) ?? [];
  if (written === undefined || id === undefined) return undefined;
  const end = at + written.length - '"'.length;
  const [before, behind] = [text.slice(0, end - id.length), text.slice(end)];
  // A JSON string contains no raw line break, so no other workflow has this text.
  return { id, before, behind, rest: `${before}\n${behind}` };
}

interface Named {
  readonly id: string;
  readonly before: string;
  readonly behind: string;
  readonly rest: string;
}

function kindOf({ text, options, warnings }: ParsedRequest, named: Named): WorkflowKind {
  const before = JSON.stringify({ workflow: named.before });
  const behind = JSON.stringify({ workflow: named.behind, ...options } satisfies JsonObject);
  return {
    request: [before.slice(0, -'"}'.length), behind.slice('{"workflow":"'.length)],
    // `\u` is included because an escape sequence can spell each of these words.
    isSelfContained: warnings.length === 0 && !/\/store|LoadData|credentialRef|\\u/.test(text),
  };
}

/** The failure of a workflow with invalid lines. */
export function unreadableLines(issues: readonly Finding[]): Failure {
  const [first] = issues;
  const { operationId } = first ?? {};
  return failure('invalid_message', { issues, ...(operationId !== undefined && { operationId }) }, first?.message);
}

/** The text that is recorded, so that the execution can continue after a restart: the request and its origin. */
export function requestText(request: ParsedRequest, { hops = 0, requestId }: RequestOrigin = {}): string {
  const { text, options, workflow, kind } = request;
  const { executionId } = workflow;
  if (hops > 0 || requestId !== undefined) {
    const by = { ...(hops > 0 && { hops }), ...(requestId !== undefined && { request_id: requestId }) };
    return JSON.stringify({ workflow: text, ...options, ...by } satisfies JsonObject);
  }
  // An id contains no character that JSON escapes.
  if (kind !== undefined) return `${kind.request[0]}${executionId}${kind.request[1]}`;
  return JSON.stringify({ workflow: text, ...options } satisfies JsonObject);
}

/** Reads what `requestText` wrote: the body of the request, and its origin. */
export function recordedRequest(text: string): { readonly body: JsonObject; readonly by: RequestOrigin } {
  const json = parseJson(text);
  const { hops = 0, request_id: requestId, ...body }: JsonObject = json.ok && isObject(json.value) ? json.value : {};
  return { body, by: { hops: Number(hops), ...(typeof requestId === 'string' && { requestId }) } };
}

export interface RequestOrigin {
  /** How many workflows and agents are between the first caller and this execution. */
  readonly hops?: number | undefined;
  /** The request to the hub that the execution answers: its questions belong to that request. */
  readonly requestId?: string | undefined;
}

const MOST_KNOWN = 500;
const LONGEST_KNOWN = 16_384;
const EXECUTION_ID = /"executionId"\s*:\s*"([a-zA-Z0-9_-]{1,100})"/y;

const INVALID_BODY = failure(
  'invalid_message',
  {
    issues: [
      {
        pointer: '/workflow',
        code: 'required',
        message: 'workflow must be a string of JSON lines, or an array of messages',
        suggestion: 'send {"workflow": "…"}, or the lines themselves as application/jsonl',
      },
    ],
  },
  'workflow must be a string of JSON lines, or an array of messages.',
);

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

/** A workflow somebody wants checked, planned or run, and how. */
export interface Asked {
  readonly workflow: Workflow;
  readonly options: RunOptions;
  /** The JSON lines as they came. */
  readonly text: string;
  /** What was tolerated in reading it. */
  readonly warnings: readonly Finding[];
  /** The same object for all that are the same but for their execution id, where that was easy to see. */
  readonly kind?: WorkflowKind;
}

/** What need not be found out again for a workflow that comes under another id. */
export interface WorkflowKind {
  /** What is recorded of it, before its id and behind it. */
  readonly request: readonly [before: string, behind: string];
  /** Whether its plan stays true whatever was stored and whichever credentials there are. */
  readonly isSelfContained: boolean;
}

/** `failure`: it is no such body. `issues`: it is one, and the lines in it are wrong, which `validate` tells as its result. */
export type AskedOutcome =
  | { readonly ok: true; readonly asked: Asked }
  | { readonly ok: false; readonly issues: readonly Finding[] }
  | { readonly ok: false; readonly failure: Failure };

/** Reads the body of validate, plan and execute. */
export class AskedReader {
  readonly #options: ReadOptions;
  /** What was read, by how it is written. Reading has no other input, so what is here never changes. */
  readonly #known = new LRUCache<string, Asked>({ max: MOST_KNOWN });

  /** `operations`: those there are beside the built-in ones. `jsonLimits`: of each line. */
  constructor(operations: OwnOperations = {}, jsonLimits: JsonLimits = {}) {
    this.#options = { operations, jsonLimits };
  }

  read(json: Json): AskedOutcome {
    if (!isObject(json)) return { ok: false, failure: NO_WORKFLOW };
    const { workflow: text } = json;
    if (Array.isArray(text))
      return this.read({ ...json, workflow: text.map((line) => JSON.stringify(line)).join('\n') });
    if (typeof text !== 'string') return { ok: false, failure: NO_WORKFLOW };
    const named = withoutId(text);
    if (named === undefined) return this.#readAnew(json, text);
    const name = `${named.rest}\n${Object.keys(json).length === 1 ? '' : JSON.stringify({ ...json, workflow: '' })}`;
    // What stands beside the lines can be long as well.
    if (name.length > LONGEST_KNOWN) return this.#readAnew(json, text);
    const known = this.#known.get(name);
    if (known !== undefined) {
      const { operations, order } = known.workflow;
      return { ok: true, asked: { ...known, text, workflow: { executionId: named.id, operations, order } } };
    }
    const outcome = this.#readAnew(json, text);
    if (!outcome.ok || outcome.asked.workflow.executionId !== named.id) return outcome;
    const asked = { ...outcome.asked, kind: kindOf(outcome.asked, named) };
    this.#known.set(name, asked);
    return { ok: true, asked };
  }

  #readAnew(json: JsonObject, text: string): AskedOutcome {
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
    return { ok: true, asked: { workflow, options, text, warnings } };
  }
}

/**
 * The id of the execution, and the lines without it. Agents send the same workflow again and again under new ids: reading
 * it once is enough.
 */
function withoutId(text: string): Named | undefined {
  if (text.length > LONGEST_KNOWN) return undefined;
  const at = text.lastIndexOf('"executionId"');
  if (at === -1) return undefined;
  EXECUTION_ID.lastIndex = at;
  const [written, id] = EXECUTION_ID.exec(text) ?? [];
  if (written === undefined || id === undefined) return undefined;
  const end = at + written.length - '"'.length;
  const [before, behind] = [text.slice(0, end - id.length), text.slice(end)];
  // A line break cannot stand in a string of JSON: no other workflow is written like this.
  return { id, before, behind, rest: `${before}\n${behind}` };
}

interface Named {
  readonly id: string;
  readonly before: string;
  readonly behind: string;
  readonly rest: string;
}

function kindOf({ text, options, warnings }: Asked, named: Named): WorkflowKind {
  const before = JSON.stringify({ workflow: named.before });
  const behind = JSON.stringify({ workflow: named.behind, ...options } satisfies JsonObject);
  return {
    request: [before.slice(0, -'"}'.length), behind.slice('{"workflow":"'.length)],
    // Escapes can spell all of them.
    isSelfContained: warnings.length === 0 && !/\/store|LoadData|credentialRef|\\u/.test(text),
  };
}

/** Why lines that could not be read do not run. */
export function unreadableLines(issues: readonly Finding[]): Failure {
  const [first] = issues;
  const { operationId } = first ?? {};
  return failure('invalid_message', { issues, ...(operationId !== undefined && { operationId }) }, first?.message);
}

/** What is recorded, so that a restart can read it again: what was asked, and by whom where a request to the hub asked it. */
export function requestText(asked: Asked, { hops = 0, requestId }: AskedBy = {}): string {
  const { text, options, workflow, kind } = asked;
  const { executionId } = workflow;
  if (hops > 0 || requestId !== undefined) {
    const by = { ...(hops > 0 && { hops }), ...(requestId !== undefined && { request_id: requestId }) };
    return JSON.stringify({ workflow: text, ...options, ...by } satisfies JsonObject);
  }
  // An id has nothing in it that JSON writes in another way.
  if (kind !== undefined) return `${kind.request[0]}${executionId}${kind.request[1]}`;
  return JSON.stringify({ workflow: text, ...options } satisfies JsonObject);
}

/** What `requestText` wrote: the body of the request, and who asked. */
export function recordedRequest(text: string): { readonly body: JsonObject; readonly by: AskedBy } {
  const json = parseJson(text);
  const { hops = 0, request_id: requestId, ...body }: JsonObject = json.ok && isObject(json.value) ? json.value : {};
  return { body, by: { hops: Number(hops), ...(typeof requestId === 'string' && { requestId }) } };
}

export interface AskedBy {
  /** How many workflows and agents stand between the first caller and this. */
  readonly hops?: number | undefined;
  /** The request to the hub that it answers: its questions are asked in that one. */
  readonly requestId?: string | undefined;
}

const MOST_KNOWN = 500;
const LONGEST_KNOWN = 16_384;
const EXECUTION_ID = /"executionId"\s*:\s*"([a-zA-Z0-9_-]{1,100})"/y;

const NO_WORKFLOW = failure(
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

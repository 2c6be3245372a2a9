import type { JsonObject } from '@dragoman/protocols';
import type {
  Capabilities,
  ExecutionResult,
  RateLimitStatus,
  RunOptions,
  ValidationReport,
} from '@dragoman/protocols/a2e-workflow';
import { DragomanError } from './dragoman-error.ts';
import { type ExecutionEvent, executionEvents } from './execution-events.ts';
import type { Http, JsonRequest } from './http.ts';
import { insist } from './insist.ts';
import { invalidArgument, shown, textGiven } from './invalid-argument.ts';
import { newRequestId } from './request-id.ts';
import { type RetryOptions, RetryPauses } from './retry.ts';

/** A workflow as JSON lines, or as parsed lines. */
export type WorkflowInput = string | readonly JsonObject[];

/** The options of a run, and a signal that ends the wait for it. */
export interface WorkflowOptions extends RunOptions {
  readonly signal?: AbortSignal;
}

/** Which executions to list. */
export interface ExecutionQuery {
  readonly status?: ExecutionResult['status'];
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string;
  readonly signal?: AbortSignal;
}

export interface ExecutionPage {
  readonly executions: readonly {
    readonly execution_id: string;
    readonly status: ExecutionResult['status'];
    readonly started_at: string;
    readonly completed_at: string | null;
    /** Absent while the execution is running. */
    readonly duration_ms?: number;
  }[];
  readonly count: number;
  readonly next_cursor: string | null;
}

/** A recorded execution: its workflow, its plan and its effects. */
export interface ExecutionRecord {
  readonly execution_id: string;
  readonly plan_hash: string;
  /** The workflow as JSON lines. */
  readonly workflow: string;
  readonly effects: readonly ExecutionEffect[];
}

/** Something that an execution did to the world, or learned from it. */
export interface ExecutionEffect {
  /** The key begins with the id of the operation. */
  readonly key: string;
  readonly kind: string;
  readonly bytes: number;
  /** The HTTP status of a call that was answered. */
  readonly status?: number;
  /** For a call that was repeated or has failed. */
  readonly attempts?: number;
  readonly failure?: string | null;
  /** The end of a wait. */
  readonly until?: string;
}

/** A stored workflow that a caller may run by name. */
export interface RunnableWorkflow {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the inputs. */
  readonly inputs: JsonObject;
  readonly version: number;
}

export interface WorkflowPlan {
  /** The hash of the plan: equal for equal workflows. */
  readonly plan_hash: string;
  readonly execution_id: string | null;
  readonly steps: readonly {
    readonly operationId: string;
    readonly type: string;
    readonly depth: number;
    readonly runs: string;
    readonly reads: readonly string[];
    readonly writes: readonly string[];
    /** The ids of the credentials that the step uses. */
    readonly credentials: readonly string[];
    readonly calls?: { readonly method: string; readonly origin: string; readonly path: string };
  }[];
  readonly estimate: {
    readonly steps: number;
    readonly api_calls: number;
    readonly at_least: boolean;
    readonly wait_ms: number;
  };
  readonly warnings: ValidationReport['warnings'];
}

/** A2E workflows: capabilities, validation, plans and executions. */
export class Workflows {
  readonly #http: Http;
  readonly #retry: Required<RetryOptions>;

  constructor(http: Http, retry: Required<RetryOptions>) {
    this.#http = http;
    this.#retry = retry;
  }

  /** The APIs, credentials (by name) and operations that this key may use. */
  capabilities(options: Waiting = {}): Promise<Capabilities> {
    return this.#insist({ path: 'api/v1/capabilities', signal: options.signal, gives: { capabilities: 'object' } });
  }

  /** The stored workflows that this key may run. */
  async stored(options: Waiting = {}): Promise<readonly RunnableWorkflow[]> {
    const request = { path: 'api/v1/workflows', signal: options.signal, gives: { workflows: 'array' } } as const;
    return (await this.#insist<{ workflows: readonly RunnableWorkflow[] }>(request)).workflows;
  }

  /** Checks a workflow and returns every problem. */
  validate(workflow: WorkflowInput, options: WorkflowOptions = {}): Promise<ValidationReport> {
    return this.#post(VALIDATE, workflow, options);
  }

  /** Plans a workflow without running it. */
  plan(workflow: WorkflowInput, options: WorkflowOptions = {}): Promise<WorkflowPlan> {
    return this.#post(PLAN, workflow, options);
  }

  /**
   * Runs a workflow to its end, or until it waits for a person. Then `status` is `running`, and `questions` has its
   * questions. A failed workflow has the `status` `failed`; an error is thrown only if it could not start. The request
   * has an idempotency key, so that a retry after a broken connection cannot run it twice.
   */
  execute(workflow: WorkflowInput, options: WorkflowOptions = {}): Promise<ExecutionResult> {
    return this.#post(EXECUTE, workflow, options, { 'Idempotency-Key': newRequestId() });
  }

  /**
   * Starts a workflow without waiting for its end. Returns the id for `find` and `result`. With `planHash`, it runs
   * only if its plan has this hash, such as that of an approved plan.
   */
  async start(
    workflow: WorkflowInput,
    { planHash, ...options }: WorkflowOptions & { readonly planHash?: string | undefined } = {},
  ): Promise<string> {
    const headers = {
      'Idempotency-Key': newRequestId(),
      Prefer: 'respond-async',
      ...(planHash !== undefined && { 'Plan-Hash': planHash }),
    };
    const { execution_id: id } = await this.#post(EXECUTE, workflow, options, headers);
    if (id === null)
      throw new DragomanError({ code: 'unexpected_answer', message: 'The server returned no execution_id.' });
    return id;
  }

  /** The state or result of an execution. */
  async find(executionId: string, options: Waiting = {}): Promise<ExecutionResult> {
    return this.#insist({ path: executionPath(executionId), signal: options.signal, gives: EXECUTE.gives });
  }

  /** The recorded workflow and effects of an execution. */
  record(executionId: string, options: Waiting = {}): Promise<ExecutionRecord> {
    const path = `${executionPath(executionId)}/record`;
    return this.#insist({ path, signal: options.signal, gives: { workflow: 'string', effects: 'array' } });
  }

  /** Polls until the execution has ended: every second, or every `everyMs`. */
  async result(
    executionId: string,
    { everyMs = 1000, ...options }: Waiting & { readonly everyMs?: number } = {},
  ): Promise<ExecutionResult> {
    const pause = new RetryPauses(this.#retry);
    for (;;) {
      const found = await this.find(executionId, options);
      if (found.status !== 'running') return found;
      await pause.wait(everyMs, options.signal);
    }
  }

  /** The events of an execution from its start; the last is `execution-finished` with the result. */
  events(executionId: string, { signal }: Waiting = {}): AsyncGenerator<ExecutionEvent, void> {
    const path = `${executionPath(executionId)}/events`;
    return executionEvents({ http: this.#http, retry: this.#retry, path, signal });
  }

  /** A page of executions, the newest first. */
  list({ signal, ...query }: ExecutionQuery = {}): Promise<ExecutionPage> {
    const fields = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
    return this.#insist({ path: `api/v1/executions?${fields.join('&')}`, signal, gives: { executions: 'array' } });
  }

  /** Cancels a running execution. Returns `false` if it had ended already. */
  async cancel(executionId: string, options: Waiting = {}): Promise<boolean> {
    const path = `${executionPath(executionId)}/cancel`;
    const { signal } = options;
    const gives = { cancelled: 'boolean' } as const;
    return (await this.#insist<{ cancelled: boolean }>({ method: 'POST', path, signal, gives })).cancelled;
  }

  /**
   * Deletes an execution that has ended, with its events and result. Not retried, because a retry would not find it any
   * more.
   */
  async forget(executionId: string, options: Waiting = {}): Promise<{ execution_id: string; removed: true }> {
    return this.#http.json({
      method: 'DELETE',
      path: executionPath(executionId),
      signal: options.signal,
      gives: { removed: 'boolean' },
    });
  }

  /** How much of each rate limit is used, and how much is left. This request does not count. */
  limits(options: Waiting = {}): Promise<RateLimitStatus> {
    const gives = { limits: 'object', usage: 'object', remaining: 'object' } as const;
    return this.#insist({ path: 'api/v1/rate-limit/status', signal: options.signal, gives });
  }

  /** Clears the cached API answers of this key. Returns their number. */
  async invalidate(options: Waiting = {}): Promise<number> {
    const request = { method: 'DELETE', path: 'api/v1/cache', signal: options.signal, gives: CLEARED } as const;
    return (await this.#insist<{ cleared: number }>(request)).cleared;
  }

  async #post<T>(
    { path, gives }: Asking<T>,
    workflow: WorkflowInput,
    { signal, ...options }: WorkflowOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const body = JSON.stringify({ workflow: linesOf(workflow), ...options });
    return this.#insist({ method: 'POST', path, body, headers, signal, gives });
  }

  /** Retries a request. Executions are idempotent by their idempotency key. */
  #insist<T>(request: JsonRequest<T>): Promise<T> {
    return insist(this.#http, this.#retry, request);
  }
}

interface Waiting {
  readonly signal?: AbortSignal;
}

function executionPath(executionId: string): string {
  return `api/v1/executions/${encodeURIComponent(textGiven(executionId, 'executionId'))}`;
}

export function linesOf(workflow: WorkflowInput): string {
  if (typeof workflow === 'string') return workflow;
  if (Array.isArray(workflow)) return workflow.map((line) => JSON.stringify(line)).join('\n');
  throw invalidArgument(`a workflow must be JSON lines in a string, or an array of objects; got ${shown(workflow)}`);
}

type Asking<T> = Pick<JsonRequest<T>, 'path' | 'gives'>;

const CLEARED = { cleared: 'number' } as const;
const VALIDATE: Asking<ValidationReport> = {
  path: 'api/v1/workflows/validate',
  gives: { valid: 'boolean', errors: 'array', warnings: 'array' },
};
const PLAN: Asking<WorkflowPlan> = { path: 'api/v1/workflows/plan', gives: { steps: 'array', estimate: 'object' } };
const EXECUTE: Asking<ExecutionResult> = {
  path: 'api/v1/workflows/execute',
  gives: { status: 'string', results: 'object' },
};

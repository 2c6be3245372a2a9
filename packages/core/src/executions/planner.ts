import { type Failure, failure } from '@dragoman/protocols';
import {
  type CheckContext,
  type Credential,
  type Finding,
  type FindingCode,
  type Limits,
  type OwnOperations,
  reportOf,
  type ValidationReport,
} from '@dragoman/protocols/a2e-workflow';
import { LRUCache } from 'lru-cache';
import type { ApiCatalogue } from '../apis/api.ts';
import type { Principal } from '../call/principal.ts';
import type { Catalog } from '../workflow/catalog.ts';
import { compilePlan, type Plan, type PlanOutcome } from '../workflow/plan.ts';
import type { WorkflowLimits } from './limits.ts';
import type { StoredData } from './stored-data.ts';
import type { ParsedRequest, ParseOutcome } from './workflow-request.ts';

export interface PlannerOptions {
  readonly apis: ApiCatalogue;
  /** All credentials by id, without their values. */
  readonly credentials: () => Readonly<Record<string, Credential>>;
  readonly storedData: StoredData;
  readonly limits: WorkflowLimits;
  /** All operations, including the operator's own. */
  readonly catalog: Catalog;
  /** All stored workflows. Absent: `RunWorkflow` is not checked against them. */
  readonly storedWorkflows?: (() => WorkflowCatalogue) | undefined;
}

/** The names of all stored workflows. */
export interface WorkflowCatalogue {
  /** Changes whenever a stored workflow changes. */
  readonly version: number;
  names(): readonly string[];
}

/** Makes plans for callers with their permissions, resources and limits. The same for validate, plan and execute. */
export class Planner {
  readonly #options: PlannerOptions;
  readonly #plans = new LRUCache<string, LRUCache<object, Plan>>({ max: MOST_PERMISSIONS });
  readonly #names = new WeakMap<Principal['permissions'], string>();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** The operator's own operations. */
  get own(): OwnOperations {
    return this.#options.catalog.own;
  }

  async compile(request: ParsedRequest, principal: Principal): Promise<PlanOutcome> {
    const { limits } = this.#options;
    const longest = limits.max_timeout_ms;
    if ((request.options.timeout_ms ?? 0) > longest) return { ok: false, findings: [tooLong(longest)] };
    const { kind } = request;
    const plans = kind?.isSelfContained === true ? this.#plansFor(principal) : undefined;
    const known = kind && plans?.get(kind);
    if (known !== undefined) {
      const { executionId } = request.workflow;
      return { ok: true, plan: { ...known, workflow: { ...known.workflow, executionId } } };
    }
    const outcome = compilePlan(request.workflow, {
      ...(await this.#context(request, principal)),
      catalog: this.#options.catalog,
      options: { onError: request.options.onError ?? 'stop' },
    });
    if (outcome.ok && kind !== undefined) plans?.set(kind, outcome.plan);
    return outcome;
  }

  /** The plans, by kind of workflow, that were made for these permissions and the current APIs and stored workflows. */
  #plansFor({ permissions }: Principal): LRUCache<object, Plan> {
    const { apis, storedWorkflows } = this.#options;
    const name = `${apis.version} ${storedWorkflows?.().version} ${this.#nameOf(permissions)}`;
    let plans = this.#plans.get(name);
    if (plans === undefined) {
      plans = new LRUCache({ max: MOST_PLANS });
      this.#plans.set(name, plans);
    }
    return plans;
  }

  #nameOf(permissions: Principal['permissions']): string {
    let name = this.#names.get(permissions);
    if (name === undefined) {
      name = JSON.stringify(permissions);
      this.#names.set(permissions, name);
    }
    return name;
  }

  /** The answer of `validate`. */
  async report(outcome: Exclude<ParseOutcome, { failure: Failure }>, principal: Principal): Promise<ValidationReport> {
    if (!outcome.ok) return reportOf(outcome.issues);
    const planned = await this.compile(outcome.request, principal);
    return reportOf([...outcome.request.warnings, ...(planned.ok ? planned.plan.warnings : planned.findings)]);
  }

  /** Milliseconds an execution may take. */
  timeoutOf(request: ParsedRequest): number {
    return timeoutOf(request, this.#options.limits);
  }

  async #context(request: ParsedRequest, principal: Principal): Promise<CheckContext> {
    const { apis, credentials, storedData, limits, storedWorkflows } = this.#options;
    // Most workflows read no stored data, so the names are not needed.
    const stored = /\/store|LoadData|\\u/.test(request.text) ? await storedData.names(principal.id) : [];
    return {
      level: request.options.level ?? 'moderate',
      permissions: principal.permissions,
      apis: Object.fromEntries(apis.list().map((api) => [api.id, api])),
      credentials: credentials(),
      limits: boundsOf(request, limits),
      stored,
      ...(storedWorkflows !== undefined && { workflows: storedWorkflows().names() }),
    };
  }
}

/** The errors that every caller would get, whatever their permissions and whatever is registered or stored. */
export function faultsIn(
  request: ParsedRequest,
  { limits, catalog }: Pick<PlannerOptions, 'limits' | 'catalog'>,
): readonly Finding[] {
  const outcome = planForAll(request, { limits, catalog });
  return outcome.ok ? [] : outcome.findings.filter(({ severity }) => severity === 'error');
}

/** The plan of a caller with all permissions. */
export function planForAll(
  request: ParsedRequest,
  { limits, catalog }: Pick<PlannerOptions, 'limits' | 'catalog'>,
): PlanOutcome {
  const { level = 'moderate', onError = 'stop' } = request.options;
  return compilePlan(request.workflow, { level, limits: boundsOf(request, limits), catalog, options: { onError } });
}

function boundsOf(request: ParsedRequest, limits: WorkflowLimits): Limits {
  return {
    operations: limits.max_operations,
    steps: limits.max_steps,
    apiCalls: limits.max_api_calls,
    depth: limits.max_depth,
    executionTime: timeoutOf(request, limits),
  };
}

function timeoutOf({ options }: ParsedRequest, { timeout_ms, max_timeout_ms }: WorkflowLimits): number {
  return Math.min(options.timeout_ms ?? timeout_ms, max_timeout_ms);
}

/** The failure of a workflow with errors. */
export function refusalOf(findings: readonly Finding[]): Failure {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  // When only permissions are missing, the code is `forbidden`.
  const code = errors.every((finding) => PERMISSION.has(finding.code)) ? 'forbidden' : 'invalid_message';
  return failure(
    code,
    { issues: errors, ...(first?.operationId !== undefined && { operationId: first.operationId }) },
    `The workflow cannot run: ${first?.message ?? 'it is not valid'}.`,
  );
}

function tooLong(longest: number): Finding {
  const message = `timeout_ms must be at most ${longest} here`;
  return {
    severity: 'error',
    pointer: '/timeout_ms',
    code: 'maximum',
    message,
    suggestion: `set timeout_ms to ${longest} or less`,
  };
}

const PERMISSION: ReadonlySet<string> = new Set<FindingCode>([
  'operation_not_allowed',
  'callee_not_allowed',
  'api_not_allowed',
  'endpoint_not_allowed',
  'credential_unavailable',
  'credential_host',
  'data_flow',
]);

/** Plans cached for each set of permissions, and the number of such sets. */
const MOST_PLANS = 200;
const MOST_PERMISSIONS = 100;

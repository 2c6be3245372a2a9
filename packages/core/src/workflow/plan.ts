import { hash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@dragoman/protocols';
import {
  type CheckContext,
  checkWorkflow,
  DEFAULT_LIMITS,
  type Finding,
  OPERATIONS,
  type Path,
  parsePath,
  runOrder,
  type Uses,
  usesOf,
  type Workflow,
} from '@dragoman/protocols/a2e-workflow';
import { BUILT_IN, type Catalog } from './catalog.ts';
import type { Operation, Work } from './operation.ts';

/** A compiled workflow. Validate, plan and execute use the same plan, so they cannot differ. */
export interface Plan {
  /** Equal for equal workflows, catalogues, limits and options. */
  readonly hash: string;
  /**
   * The source, from which another thread can compile the same plan. Its order lacks the operations that others run.
   */
  readonly workflow: Workflow;
  readonly steps: ReadonlyMap<string, Step>;
  /** The ids of all operations that can run, in the order of definition. */
  readonly reached: readonly string[];
  /** Whether no operation can compute long over little data. */
  readonly isLight: boolean;
  /** Whether it has no effects outside the execution, so that it may be repeated. */
  readonly isHarmless: boolean;
  readonly warnings: readonly Finding[];
}

/** One operation, compiled. */
export interface Step {
  readonly id: string;
  readonly type: string;
  readonly config: JsonObject;
  readonly operation: Operation;
  readonly work: Work;
  readonly uses: Uses;
  /** The stored data that it reads. */
  readonly storeReads: readonly Path[];
  /** The path below `/workflow` that its result is written to. */
  readonly output: Path | undefined;
  /** A hash of the operation and its configuration without `outputPath`. */
  readonly lineage: string;
}

export interface PlanContext extends CheckContext {
  /** Default: the built-in operations. */
  readonly catalog?: Catalog;
  /** The caller's options: the same workflow with other options is another plan. */
  readonly options?: JsonObject;
}

export type PlanOutcome =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly findings: readonly Finding[] };

/** Checks and compiles a workflow. A compiled plan cannot fail with a ValidationError. */
export function compilePlan(workflow: Workflow, context: PlanContext = {}): PlanOutcome {
  const { catalog = BUILT_IN } = context;
  const checked = checkWorkflow(workflow, { ...context, operations: catalog.own });
  if (checked.some(({ severity }) => severity === 'error')) return { ok: false, findings: checked };
  const { steps, problems } = compileSteps(workflow, catalog);
  if (problems.length > 0) return { ok: false, findings: [...checked, ...problems] };
  const planned = { ...workflow, order: runOrder(workflow, catalog.own) };
  return {
    ok: true,
    plan: planOf({ workflow: planned, steps, hash: planHash(planned, context, catalog), warnings: checked }),
  };
}

/** Compiles a workflow that was checked and compiled before, in another thread. */
export function compileChecked(workflow: Workflow, catalog: Catalog, hash: string): Plan {
  const { steps, problems } = compileSteps(workflow, catalog);
  if (problems.length > 0) throw new Error('the catalogues of two threads differ');
  return planOf({ workflow, steps, hash, warnings: [] });
}

function planOf(made: Pick<Plan, 'hash' | 'workflow' | 'steps' | 'warnings'>): Plan {
  const reached = reachedIn(made.workflow.order, made.steps);
  const steps = [...made.steps.values()];
  return {
    ...made,
    isLight: steps.every(isLightStep),
    isHarmless: steps.every(isHarmlessStep),
    reached: [...made.steps.keys()].filter((id) => reached.has(id)),
  };
}

/** An operator's own operation may do anything, and a long configuration can mean much work for each item. */
function isLightStep({ type, config, operation }: Step): boolean {
  if (!Object.hasOwn(OPERATIONS, type) || operation.isHeavy?.(config as never) === true) return false;
  return JSON.stringify(config).length <= LIGHT_CONFIG;
}

/** The effects of an operator's own operation are unknown. */
function isHarmlessStep({ type, config, operation }: Step): boolean {
  return Object.hasOwn(OPERATIONS, type) && operation.hasEffect?.(config as never) !== true;
}

interface CompiledSteps {
  readonly steps: ReadonlyMap<string, Step>;
  readonly problems: readonly Finding[];
}

function compileSteps(workflow: Workflow, catalog: Catalog): CompiledSteps {
  const steps = new Map<string, Step>();
  const problems: Finding[] = [];
  for (const { id, type, config } of workflow.operations.values()) {
    const operation = catalog.find(type);
    if (operation === undefined) throw new Error(`${type} passed the check but is not in the catalogue`);
    const work = operation.compile(config as never, {
      path: pathOf,
      problem: (pointer, message, suggestion) => {
        problems.push({
          severity: 'error',
          operationId: id,
          pointer: `/operation/${type}${pointer}`,
          code: 'config',
          message,
          ...(suggestion !== undefined && { suggestion }),
        });
      },
    });
    const uses = usesOf(operation.description, config);
    const output = uses.writes.find(({ path }) => path.root === 'workflow')?.path;
    const storeReads = uses.reads.flatMap(({ path }) => (path.root === 'store' ? [path] : []));
    const { outputPath: _, ...rest } = config;
    const lineage = hash('sha256', `${type} ${canonicalJson(rest)}`, 'base64url');
    steps.set(id, { id, type, config, operation, work, uses, storeReads, output, lineage });
  }
  return { steps, problems };
}

function reachedIn(order: readonly string[], steps: ReadonlyMap<string, Step>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...order];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    for (const target of steps.get(id)?.uses.targets ?? []) waiting.push(target.id);
  }
  return reached;
}

function planHash({ operations, order }: Workflow, context: PlanContext, catalog: Catalog): string {
  const revisions: Record<string, number> = {};
  for (const { id, type, config } of operations.values()) {
    const revision = catalog.find(type)?.revision?.(config as never);
    if (revision !== undefined) revisions[id] = revision;
  }
  const canonical = canonicalJson({
    catalogue: catalog.version,
    order: [...order],
    operations: [...operations.values()].map(({ id, type, config }) => [id, type, config]),
    level: context.level ?? 'moderate',
    limits: { ...DEFAULT_LIMITS, ...context.limits },
    options: context.options ?? {},
    ...(Object.keys(revisions).length > 0 && { revisions }),
  });
  return hash('sha256', canonical, 'base64url');
}

function pathOf(text: string): Path {
  const parsed = parsePath(text);
  if (!parsed.ok) throw new Error(`${text} passed the schema but is not a path`);
  return parsed.path;
}

const LIGHT_CONFIG = 512;

import type { Issue } from '../../outcome.ts';
import { pointerTo } from '../../pointer.ts';
import type { Workflow, WorkflowOperation } from '../document.ts';
import { type Uses, usesOf } from '../member.ts';
import type { Level } from '../message.ts';
import { type OwnOperations, operationNamed } from '../operation.ts';
import type { CredentialPlace, OperationDescription } from '../operations/description.ts';
import { covers, type Path } from '../path.ts';
import { runOrder } from '../run-order.ts';
import type { FindingCode } from './severity.ts';

/** One rule of the checker. The level decides the severity of its findings. */
export type Rule = (subject: Subject) => readonly Draft[];

/** A finding before its severity. */
export interface Draft extends Omit<Issue, 'offset'> {
  readonly code: FindingCode;
  /**
   * The operation of the finding: `pointer` is relative to its line. Without it, `pointer` is relative to
   * `beginExecution`.
   */
  readonly operationId?: string;
}

/** The checker's data about the caller and the server. Missing parts are not checked. */
export interface CheckContext {
  readonly level?: Level;
  readonly permissions?: CheckedPermissions;
  /** Registered APIs by id. */
  readonly apis?: Readonly<Record<string, CheckedApi>>;
  /** Credentials that exist, by id. */
  readonly credentials?: Readonly<Record<string, CheckedCredential>>;
  readonly limits?: Partial<CheckLimits>;
  /** Custom operations of the server. */
  readonly operations?: OwnOperations;
  /** Keys below `/store/` that earlier executions stored. */
  readonly stored?: Iterable<string>;
  /** The stored workflows, by name. */
  readonly workflows?: readonly string[];
}

/** Names that are allowed; `*` is all of them, an empty list is none. */
export interface CheckedPermissions {
  readonly operations?: readonly string[];
  readonly apis?: readonly string[];
  readonly credentials?: readonly string[];
  readonly tools?: readonly string[];
  readonly agents?: readonly string[];
  readonly workflows?: readonly string[];
}

export interface CheckedApi {
  readonly base_url: string;
  /** The hosts whose data, fetched with a credential, may be sent here; `*` is any. */
  readonly accepts_data_from?: readonly string[];
  readonly endpoints?: readonly { readonly method: string; readonly path: string }[];
  /** Callers without `*` may also call paths that are not in `endpoints`. */
  readonly allow_unlisted?: boolean;
}

export interface CheckedCredential {
  /** `host` (port 443) or `host:port`; undefined if unknown. */
  readonly hosts?: readonly string[];
  /** The places in a request where it may be sent. Default: a header. */
  readonly places?: readonly (CredentialPlace | 'env')[];
}

export interface CheckLimits {
  readonly operations: number;
  /** Operations run in one execution. An operation inside a loop counts once for each item. */
  readonly steps: number;
  readonly apiCalls: number;
  /** Levels of Conditional and Loop. */
  readonly depth: number;
  /** Milliseconds. */
  readonly executionTime: number;
}

export const DEFAULT_LIMITS: CheckLimits = {
  operations: 20,
  steps: 1000,
  apiCalls: 30,
  depth: 4,
  executionTime: 30_000,
};

/** A workflow laid out for the rules. */
export interface Subject {
  readonly workflow: Workflow;
  /** The operations of `workflow.order` that run; targets of a Conditional or Loop run only through it. */
  readonly order: readonly string[];
  readonly context: CheckContext;
  readonly limits: CheckLimits;
  /** By id, in the order of definition. */
  readonly operations: ReadonlyMap<string, Examined>;
  /** Ids that are reached from the order, through branches and loops. */
  readonly reached: ReadonlySet<string>;
  /** The operations that write at a place, above it or below it. */
  readonly writersAround: (path: Path) => readonly Examined[];
}

export interface Examined extends WorkflowOperation {
  /** `undefined` if the type is unknown. */
  readonly description: OperationDescription | undefined;
  readonly uses: Uses;
}

export function examine(workflow: Workflow, context: CheckContext): Subject {
  const operations = new Map<string, Examined>();
  for (const operation of workflow.operations.values()) {
    const description = operationNamed(operation.type, context.operations);
    const uses = description === undefined ? NO_USES : usesOf(description, operation.config);
    operations.set(operation.id, { ...operation, description, uses });
  }
  const limits = { ...DEFAULT_LIMITS, ...context.limits };
  const order = runOrder(workflow, context.operations);
  // From the order as written: `cleanOrder` reports targets in it.
  const reached = reachedFrom(workflow.order, operations);
  return { workflow, order, context, limits, operations, reached, writersAround: writersIn(operations) };
}

/** Groups writers by the first step below the root, which nested places share. */
function writersIn(operations: ReadonlyMap<string, Examined>): Subject['writersAround'] {
  const writers = new Map<string, Set<Examined>>();
  for (const operation of operations.values()) {
    for (const { path } of operation.uses.writes) {
      const start = startOf(path);
      writers.set(start, (writers.get(start) ?? new Set()).add(operation));
    }
  }
  return (path) =>
    [...(writers.get(startOf(path)) ?? [])].filter(({ uses }) =>
      uses.writes.some((write) => covers(write.path, path) || covers(path, write.path)),
    );
}

function startOf({ keys: [root, first] }: Path): string {
  return `${root}/${first}`;
}

/** A draft about a place in the configuration of an operation. */
export function about(operation: Examined, pointer: string, draft: Omit<Draft, 'pointer' | 'operationId'>): Draft {
  return { ...draft, pointer: pointerTo('/operation', operation.type) + pointer, operationId: operation.id };
}

function reachedFrom(order: readonly string[], operations: ReadonlyMap<string, Examined>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...order];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const operation = operations.get(id);
    if (operation === undefined || reached.has(id)) continue;
    reached.add(id);
    for (const target of operation.uses.targets) waiting.push(target.id);
  }
  return reached;
}

const NO_USES: Uses = {
  reads: [],
  writes: [],
  targets: [],
  callees: [],
  credentials: [],
  urls: [],
  texts: [],
  durations: [],
  itemPath: undefined,
};

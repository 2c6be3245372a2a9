import { canonicalPath, parseUrlTemplate } from '@dragoman/protocols/a2e-workflow';
import type { Plan, Step } from './plan.ts';

/** The description of a plan. */
export interface PlanExplanation {
  readonly plan_hash: string;
  readonly execution_id: string | null;
  readonly steps: readonly ExplainedStep[];
  readonly estimate: Estimate;
}

export interface ExplainedStep {
  readonly operationId: string;
  readonly type: string;
  /** Levels of Conditional and Loop around it. */
  readonly depth: number;
  /** The operation and its list that run this one, such as `ifTrue` of `check`. */
  readonly inside?: { readonly operationId: string; readonly list: string };
  /** `once`, only if its branch is taken, or for each item of a loop. */
  readonly runs: 'once' | 'branch' | 'each';
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly calls?: { readonly method: string; readonly origin: string; readonly path: string };
  /** The tools, agents and stored workflows it calls. */
  readonly targets?: readonly { readonly list: string; readonly name: string }[];
  readonly credentials: readonly string[];
}

/** The statically known number: exact without loops, otherwise a minimum. */
export interface Estimate {
  readonly steps: number;
  readonly api_calls: number;
  /** True when there are loops, whose number of items is unknown. */
  readonly at_least: boolean;
  /** Milliseconds that Wait operations take. */
  readonly wait_ms: number;
}

export function explainPlan(plan: Plan): PlanExplanation {
  const steps: ExplainedStep[] = [];
  const visit = (id: string, place: Pick<ExplainedStep, 'depth' | 'inside' | 'runs'>): void => {
    const step = plan.steps.get(id);
    if (step === undefined || steps.length >= MOST_STEPS) return;
    steps.push({ ...described(step), ...place });
    for (const { id: target, list, runs } of step.uses.targets) {
      const within = place.runs === 'each' ? 'each' : runs;
      visit(target, { depth: place.depth + 1, inside: { operationId: id, list }, runs: within });
    }
  };
  for (const id of plan.workflow.order) visit(id, { depth: 0, runs: 'once' });
  return { plan_hash: plan.hash, execution_id: plan.workflow.executionId, steps, estimate: estimated(plan) };
}

function described({ id, type, config, uses }: Step): Omit<ExplainedStep, 'depth' | 'runs'> {
  const [url] = uses.urls;
  const parsed = url === undefined ? undefined : parseUrlTemplate(url.text);
  return {
    operationId: id,
    type,
    reads: [...new Set(uses.reads.map(({ path }) => canonicalPath(path)))],
    writes: uses.writes.map(({ path }) => canonicalPath(path)),
    ...(parsed?.ok && {
      calls: { method: String(config['method']), origin: parsed.url.origin, path: parsed.url.pathPattern },
    }),
    ...(uses.callees.length > 0 && { targets: uses.callees.map(({ list, name }) => ({ list, name })) }),
    credentials: [...new Set(uses.credentials.map((credential) => credential.id))],
  };
}

/** Counts the more expensive of two branches, and a loop as one item. */
function estimated(plan: Plan): Estimate {
  let loops = false;
  const cost = (ids: readonly string[]): Cost => ids.reduce((total, id) => add(total, costOf(id)), FREE);
  const known = new Map<string, Cost>();
  const costOf = (id: string): Cost => {
    const step = plan.steps.get(id);
    const before = known.get(id);
    if (step === undefined || before !== undefined) return before ?? FREE;
    const lists = new Map<string, string[]>();
    for (const { id: target, list, runs } of step.uses.targets) {
      if (runs === 'each') loops = true;
      lists.set(list, [...(lists.get(list) ?? []), target]);
    }
    const own: Cost = {
      steps: 1,
      calls: step.operation.callsApi === true ? 1 : 0,
      wait: step.uses.durations.reduce((total, { ms, bound }) => total + (bound === 'exact' ? ms : 0), 0),
    };
    const total = [...lists.values()].map(cost).reduce(dearer, FREE);
    known.set(id, add(own, total));
    return add(own, total);
  };
  const total = cost(plan.workflow.order);
  return { steps: total.steps, api_calls: total.calls, at_least: loops, wait_ms: total.wait };
}

interface Cost {
  readonly steps: number;
  readonly calls: number;
  readonly wait: number;
}

function add(one: Cost, other: Cost): Cost {
  return { steps: one.steps + other.steps, calls: one.calls + other.calls, wait: one.wait + other.wait };
}

function dearer(one: Cost, other: Cost): Cost {
  return {
    steps: Math.max(one.steps, other.steps),
    calls: Math.max(one.calls, other.calls),
    wait: Math.max(one.wait, other.wait),
  };
}

const FREE: Cost = { steps: 0, calls: 0, wait: 0 };

/** Without cycles, operations can still be reached along exponentially many paths. */
const MOST_STEPS = 1000;

import { Graph, layout } from '@dagrejs/dagre';
import type { WorkflowPlan } from '@dragoman/client';
import { visibleText } from './text.tsx';

/** The state of each step during the execution: `running`, `success`, `failed`… */
export type StepStates = Readonly<Record<string, string>>;

/**
 * The steps of a plan, with an arrow from each step that writes a value to each that reads it. Running steps are
 * highlighted.
 */
export function PlanGraph({ plan, states }: { readonly plan: WorkflowPlan; readonly states: StepStates }) {
  const { nodes, edges, width, height } = placed(plan);
  return (
    <div class="scroll" tabIndex={0}>
      <svg
        class="graph"
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={`Plan: ${plan.steps.map(({ operationId, type }) => `${operationId} (${type}) ${states[operationId] ?? ''}`).join(', ')}`}
      >
        {edges.map(({ key, path }) => (
          <path key={key} d={path} />
        ))}
        {nodes.map(({ step: { operationId: id, type, calls }, x, y }) => (
          <g key={id} class={states[id] ?? ''} transform={`translate(${x - WIDE / 2} ${y - HIGH / 2})`} data-step={id}>
            <rect width={WIDE} height={HIGH} rx={6} />
            <text x={10} y={19}>
              {short(id)}
            </text>
            <text x={10} y={35} class="dim">
              {short(calls === undefined ? type : `${type}: ${calls.method} ${calls.origin}`)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

function placed({ steps }: WorkflowPlan) {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 46, marginx: 10, marginy: 10 });
  for (const { operationId } of steps) graph.setNode(operationId, { width: WIDE, height: HIGH });
  for (const [at, step] of steps.entries()) {
    for (const earlier of steps.slice(0, at)) {
      if (earlier.writes.some((path) => step.reads.some((read) => isWithin(read, path)))) {
        graph.setEdge(earlier.operationId, step.operationId, {});
      }
    }
  }
  layout(graph);
  const nodes = steps.map((step) => {
    const { x = 0, y = 0 } = graph.node(step.operationId);
    return { step, x, y };
  });
  const edges = graph.edges().map(({ v, w }) => {
    const points: readonly { readonly x: number; readonly y: number }[] = graph.edge({ v, w }).points ?? [];
    return { key: `${v} ${w}`, path: points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('') };
  });
  const { width = 100, height = 60 } = graph.graph();
  return { nodes, edges, width: Math.ceil(width), height: Math.ceil(height) };
}

function isWithin(read: string, written: string): boolean {
  return read === written || read.startsWith(`${written}/`);
}

function short(text: string): string {
  const shown = visibleText(text);
  return shown.length > 30 ? `${shown.slice(0, 29)}…` : shown;
}

const WIDE = 210;
const HIGH = 46;

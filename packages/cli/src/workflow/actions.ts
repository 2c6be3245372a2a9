import type { JsonObject } from '@dragoman/protocols';
import type { ExecutionResult, ValidationReport } from '@dragoman/protocols/a2e-workflow';
import { cancelOnSignal } from '../cancel-on-signal.ts';
import type { WorkflowOptions } from '../commands/workflow.ts';
import type { Context, ExitCode } from '../context.ts';
import { paint, printable } from '../paint.ts';
import { table } from '../table.ts';
import { executionEvents } from './execution-events.ts';
import { withFreshId } from './fresh-id.ts';
import { ProgressPrinter } from './progress-printer.ts';
import { askServer, type WorkflowServer } from './server-call.ts';

interface How {
  readonly server: WorkflowServer;
  readonly options: WorkflowOptions;
  readonly context: Context;
}

export async function validateWorkflow(text: string, { server, options, context }: How): Promise<ExitCode> {
  const { terminal } = context;
  const answer = await askServer(server, '/api/v1/workflows/validate', { json: bodyOf(text, options) });
  const report = (await answer.json()) as ValidationReport;
  if (options.json) terminal.out(`${JSON.stringify(report)}\n`);
  else {
    const { green, red, yellow } = paint(terminal.colour.out);
    terminal.out(report.valid ? `${green('valid')}\n` : `${red('not valid')}\n`);
    for (const finding of report.errors) terminal.out(findingText(finding, ''));
    for (const finding of report.warnings) terminal.out(findingText(finding, `${yellow('warning')} `));
  }
  return report.valid ? 0 : 1;
}

export async function planWorkflow(text: string, { server, options, context }: How): Promise<ExitCode> {
  const { terminal } = context;
  const answer = await askServer(server, '/api/v1/workflows/plan', { json: bodyOf(text, options) });
  const plan = (await answer.json()) as PlanAnswer;
  if (options.json) terminal.out(`${JSON.stringify(plan)}\n`);
  else {
    const rows = plan.steps.map(({ operationId, type, depth, runs, calls, reads, writes }) => [
      `${'  '.repeat(depth)}${operationId}`,
      type,
      runs,
      calls === undefined ? reads.join(', ') : `${calls.method} ${calls.origin}${calls.path}`,
      writes.join(', '),
    ]);
    terminal.out(printable(table(['operation', 'type', 'runs', 'reads', 'writes'], rows)));
    const { steps, api_calls, at_least, wait_ms } = plan.estimate;
    const least = at_least ? 'at least ' : '';
    terminal.out(`${least}${steps} steps, ${least}${api_calls} API calls, ${wait_ms} ms of waiting\n`);
  }
  return 0;
}

export async function runWorkflow(text: string, { server, options, context }: How): Promise<ExitCode> {
  const { terminal } = context;
  const workflow = options.keepId === true ? text : withFreshId(text);
  const answer = await askServer(server, '/api/v1/workflows/execute', {
    json: bodyOf(workflow, options),
    accept: 'text/event-stream',
  });
  const location = answer.headers.get('location') ?? '';
  const forget = cancelOnSignal(() => askServer(server, `${location}/cancel`), context);
  const printer = new ProgressPrinter({ terminal, json: options.json });
  let result: ExecutionResult | undefined;
  try {
    for await (const event of executionEvents(answer)) {
      printer.tell(event);
      if (event.event === 'execution-finished') result = event.result;
    }
  } finally {
    forget();
  }
  if (result === undefined) throw new Error(`the server broke off; the execution goes on at ${location}`);
  if (options.json) terminal.out(`${JSON.stringify(result)}\n`);
  else printer.end(result);
  return result.status === 'success' ? 0 : 1;
}

interface PlanAnswer {
  readonly steps: readonly {
    readonly operationId: string;
    readonly type: string;
    readonly depth: number;
    readonly runs: string;
    readonly reads: readonly string[];
    readonly writes: readonly string[];
    readonly calls?: { readonly method: string; readonly origin: string; readonly path: string };
  }[];
  readonly estimate: {
    readonly steps: number;
    readonly api_calls: number;
    readonly at_least: boolean;
    readonly wait_ms: number;
  };
}

function bodyOf(workflow: string, { level, onError, timeout }: WorkflowOptions): JsonObject {
  return {
    workflow,
    ...(level !== undefined && { level }),
    ...(onError !== undefined && { onError }),
    ...(timeout !== undefined && { timeout_ms: timeout }),
  };
}

function findingText(
  { operationId, pointer, message, suggestion, code }: ValidationReport['errors'][number],
  label: string,
): string {
  const place = operationId ?? (pointer === undefined || pointer === '' ? '(the whole)' : pointer);
  const fix = suggestion === undefined ? '' : `    → ${printable(suggestion)}\n`;
  return `  ${label}${printable(place)}  ${printable(message)} [${code ?? ''}]\n${fix}`;
}

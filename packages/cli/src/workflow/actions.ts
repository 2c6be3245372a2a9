import type { DragomanError } from '@dragoman/client';
import type { ExecutionResult, RunOptions, ValidationReport } from '@dragoman/protocols/a2e-workflow';
import { cancelOnSignal } from '../cancel-on-signal.ts';
import { PROGRAM } from '../command.ts';
import type { WorkflowFlags } from '../commands/workflow.ts';
import { isHere, type ServerConnection, talking } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { paint } from '../paint.ts';
import { table } from '../table.ts';
import { visible } from '../visible.ts';
import { withFreshId } from './fresh-id.ts';
import { ProgressPrinter } from './progress-printer.ts';

interface How {
  readonly server: ServerConnection;
  readonly options: WorkflowFlags;
  readonly context: Context;
}

export async function validateWorkflowFile(text: string, { server, options, context }: How): Promise<ExitCode> {
  const { terminal } = context;
  const report = await talking(server, 'agent', () => server.client.workflows.validate(text, howOf(options)));
  if (options.json) terminal.out(`${JSON.stringify(report)}\n`);
  else {
    const { green, red, yellow } = paint(terminal.colour.out);
    terminal.out(report.valid ? `${green('valid')}\n` : `${red('not valid')}\n`);
    for (const finding of report.errors) terminal.out(findingText(finding, ''));
    for (const finding of report.warnings) terminal.out(findingText(finding, `${yellow('warning')} `));
  }
  return report.valid ? 0 : 1;
}

export async function planWorkflowFile(text: string, { server, options, context }: How): Promise<ExitCode> {
  const { terminal } = context;
  const plan = await talking(server, 'agent', () => server.client.workflows.plan(text, howOf(options)));
  if (options.json) terminal.out(`${JSON.stringify(plan)}\n`);
  else {
    const rows = plan.steps.map(({ operationId, type, depth, runs, calls, reads, writes }) => [
      `${'  '.repeat(depth)}${operationId}`,
      type,
      runs,
      calls === undefined ? reads.join(', ') : `${calls.method} ${calls.origin}${calls.path}`,
      writes.join(', '),
    ]);
    terminal.out(visible(table(['operation', 'type', 'runs', 'reads', 'writes'], rows)));
    const { steps, api_calls, at_least, wait_ms } = plan.estimate;
    const least = at_least ? 'at least ' : '';
    terminal.out(`${least}${steps} steps, ${least}${api_calls} API calls, ${wait_ms} ms of waiting\n`);
  }
  return 0;
}

export async function runWorkflowFile(text: string, { server, options, context }: How): Promise<ExitCode> {
  const { terminal } = context;
  const workflow = options.keepId === true ? text : withFreshId(text);
  const { workflows } = server.client;
  const hints = isHere(options, context) ? credentialHint : () => [];
  const id = await talking(server, 'agent', () => workflows.start(workflow, howOf(options)), hints);
  const forget = cancelOnSignal(() => workflows.cancel(id), context);
  const printer = new ProgressPrinter({ terminal, json: options.json });
  const follow = async (): Promise<ExecutionResult> => {
    for await (const event of workflows.events(id)) {
      printer.print(event);
      if (event.event === 'execution-finished') return event.result;
    }
    throw new Error('an execution ended without an end event');
  };
  const result = await talking(server, 'agent', follow, goesOn(id)).finally(forget);
  if (options.json) terminal.out(`${JSON.stringify(result)}\n`);
  else {
    printer.end(result);
    if (isHere(options, context)) terminal.note(allowHint(result));
  }
  return result.status === 'success' ? 0 : 1;
}

/** A suggestion for a run without a server to a host that the gate refused. */
function allowHint({ error, errors = error === undefined ? [] : [error] }: ExecutionResult): string {
  const refused = errors.flatMap(({ suggestions = [] }) => suggestions).join('\n');
  const [, host] = /\badd (\S+) to gate\.allow/.exec(refused) ?? [];
  return host === undefined
    ? ''
    : `  → allow it for this run: --allow ${host}, or run it on a server that allows it: --url URL\n`;
}

/** A suggestion for a missing credential. A run without a server has no vault. */
function credentialHint({ issues }: Pick<DragomanError, 'issues'>): string[] {
  const isMissing = issues.some(({ code }) => code === 'credential_unavailable');
  return isMissing ? ['run it on the server that has the credential: --url URL'] : [];
}

/** A suggestion after a broken connection, because the execution may continue. */
function goesOn(id: string) {
  return ({ code }: { readonly code: string }) =>
    code === 'unreachable' ? [`the execution may still be running: ${PROGRAM} explain ${id}`] : [];
}

function howOf({ level, onError, timeout }: WorkflowFlags): RunOptions {
  return {
    ...(level !== undefined && { level }),
    ...(onError !== undefined && { onError }),
    ...(timeout !== undefined && { timeout_ms: timeout }),
  };
}

function findingText(
  { operationId, pointer, message, suggestion, code }: ValidationReport['errors'][number],
  label: string,
): string {
  const place = operationId ?? (pointer === undefined || pointer === '' ? '(whole message)' : pointer);
  const fix = suggestion === undefined ? '' : `    → ${visible(suggestion)}\n`;
  return `  ${label}${visible(place)}  ${visible(message)} [${code ?? ''}]\n${fix}`;
}

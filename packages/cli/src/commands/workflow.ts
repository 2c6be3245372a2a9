import type { Level, RunOptions } from '@dragoman/protocols/a2e-workflow';
import { type Command, Option } from 'commander';
import { each, newCommand, PROGRAM, runs } from '../command.ts';
import {
  type ConnectionOptions,
  connect,
  ELSEWHERE,
  isHere,
  type ServerConnection,
  withConnectionOptions,
} from '../connection.ts';
import type { Context } from '../context.ts';
import { A_DAY_MS, duration } from '../duration.ts';
import { readText } from '../input.ts';
import type * as Actions from '../workflow/actions.ts';
import { workflowStoredCommand } from './workflow-stored.ts';

export interface WorkflowFlags extends ConnectionOptions {
  readonly config?: string;
  readonly allow?: readonly string[];
  readonly level?: Level;
  readonly onError?: NonNullable<RunOptions['onError']>;
  readonly timeout?: number;
  readonly keepId?: boolean;
  readonly json: boolean;
}

export function workflowCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'workflow',
    summary: 'validate, plan and run A2E workflows, locally or on a server',
    examples: [`${PROGRAM} workflow run workflow.jsonl`],
  });
  for (const [name, { summary, act }] of Object.entries(ACTIONS))
    command.addCommand(action(name, summary, act, context));
  return command.addCommand(workflowStoredCommand(context));
}

function action(name: string, summary: string, act: keyof typeof Actions, context: Context): Command {
  const command = newCommand(context, {
    name: `workflow ${name}`,
    summary,
    examples: [
      `${PROGRAM} workflow ${name} workflow.jsonl`,
      `${PROGRAM} workflow ${name} --url http://127.0.0.1:7420 - < workflow.jsonl`,
    ],
  })
    .argument('<file>', 'the workflow as JSON lines; use - to read it from stdin')
    .addOption(
      new Option('--level <level>', 'how strict the checks are').choices(LEVELS).default(undefined, 'moderate'),
    )
    .option(
      '--config <file>',
      'local runs only: the file with APIs, hosts and limits (default: dragoman.yaml, if it exists)',
    )
    .option(
      '--allow <host:port>',
      'local runs only: a private or plain-http host that the workflow may call; may be repeated',
      each,
    );
  if (name === 'run') {
    command
      .addOption(
        new Option('--on-error <mode>', 'what to do after a failed operation')
          .choices(['stop', 'continue'])
          .default(undefined, 'stop'),
      )
      .option(
        '--timeout <time>',
        'the timeout: seconds, or a time such as 500ms or 5m (default: 30)',
        duration({ fromMs: 1, toMs: A_DAY_MS }),
      )
      .option('--keep-id', "keep the workflow's own execution id; running it again returns the stored result");
  }
  withConnectionOptions(command, 'agent', { url: ELSEWHERE });
  return runs<Omit<WorkflowFlags, 'json'>>(command, context, async (options, [file = '']) => {
    const text = await readText(file, context);
    await using server = await serverFor(options, context);
    const actions = await import('../workflow/actions.ts');
    return await actions[act](text, { server, options, context });
  });
}

/** The named server, or a temporary one in this process. */
async function serverFor(options: WorkflowFlags, context: Context): Promise<ServerConnection & AsyncDisposable> {
  if (isHere(options, context)) {
    // Loaded on use: only this command needs a server.
    const { localServer } = await import('../workflow/local-server.ts');
    return localServer(options, context);
  }
  return { ...(await connect(options, context, 'agent')), async [Symbol.asyncDispose]() {} };
}

const ACTIONS: Readonly<Record<string, { readonly summary: string; readonly act: keyof typeof Actions }>> = {
  validate: { summary: 'validate a workflow and report every problem', act: 'validateWorkflowFile' },
  plan: { summary: 'show what a workflow would do, without running it', act: 'planWorkflowFile' },
  run: { summary: 'run a workflow and show each operation; Ctrl-C cancels it', act: 'runWorkflowFile' },
};
// Repeated here, so that commands need not load the protocol.
const LEVELS = ['strict', 'moderate', 'lenient'] as const satisfies readonly Level[];

import type { StoredWorkflowSummary } from '@dragoman/client';
import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { readText } from '../input.ts';
import { noSuchName } from '../no-such-name.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { visible } from '../visible.ts';

export function workflowStoredCommand(context: Context): Command {
  return newCommand(context, {
    name: 'workflow stored',
    summary: 'list, put and remove stored workflows (needs the admin key)',
    examples: [`${PROGRAM} workflow stored list`, `${PROGRAM} workflow stored put report report.jsonl`],
  })
    .addCommand(listCommand(context))
    .addCommand(putCommand(context))
    .addCommand(removeCommand(context));
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'workflow stored list',
    summary: 'list all stored workflows with versions and inputs',
    examples: [`${PROGRAM} workflow stored list`],
  });
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options) => {
    const connection = await connect(options, context, 'admin');
    const workflows = await talking(connection, 'admin', () => connection.client.admin.workflows.list());
    context.terminal.out(
      options.json ? `${JSON.stringify({ workflows })}\n` : workflowTable(workflows, context.terminal),
    );
    if (workflows.length === 0 && !options.json) context.terminal.note('none: no workflow is stored\n');
    return 0;
  });
}

function workflowTable(workflows: readonly StoredWorkflowSummary[], terminal: Terminal): string {
  const rows = workflows.map(({ name, version, inputs, from, description }) => [
    name,
    String(version),
    visible(Object.keys(Object(inputs['properties'])).join(', ')),
    from,
    visible(description.slice(0, 80)),
  ]);
  return table(['WORKFLOW', 'VERSION', 'INPUTS', 'FROM', 'DESCRIPTION'], rows, terminal);
}

interface PutOptions extends ConnectionOptions {
  readonly description?: string;
}

function putCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'workflow stored put',
    summary: 'store a workflow under a name; a change becomes the next version',
    examples: [`${PROGRAM} workflow stored put report report.jsonl --description "Sends the daily report."`],
  })
    .argument('<name>', 'its name, as used in permissions')
    .argument('<file>', 'the workflow as JSON lines, with {{name}} for each input; use - to read it from stdin')
    .option('--description <text>', 'what it does, for callers');
  withConnectionOptions(command, 'admin');
  return runs<PutOptions>(command, context, async (options, [name = '', file = '']) => {
    const { description } = options;
    const text = await readText(file, context);
    const connection = await connect(options, context, 'admin');
    const { workflows } = connection.client.admin;
    const stored = await talking(connection, 'admin', () =>
      workflows.put(name, text, { ...(description !== undefined && { description }) }),
    );
    const report = options.json ? JSON.stringify(stored) : `stored ${stored.name}: version ${stored.version}`;
    context.terminal.out(`${report}\n`);
    return 0;
  });
}

function removeCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'workflow stored remove',
    summary: 'remove a stored workflow',
    examples: [`${PROGRAM} workflow stored remove report`],
  }).argument('<name>', 'as shown by `workflow stored list`');
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [name = '']) => {
    const connection = await connect(options, context, 'admin');
    const { workflows } = connection.client.admin;
    const answer = await talking(connection, 'admin', () =>
      workflows.remove(name).catch((error: unknown) =>
        noSuchName(error, {
          isIt: (refused) => refused.is('not_found'),
          name,
          message: `there is no stored workflow ${JSON.stringify(name)}`,
          known: async () => (await workflows.list()).map((one) => one.name),
          list: `${PROGRAM} workflow stored list`,
        }),
      ),
    );
    context.terminal.out(options.json ? `${JSON.stringify(answer)}\n` : `removed ${name}\n`);
    return 0;
  });
}

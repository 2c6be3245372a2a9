import { type Command, Option } from 'commander';
import type { ConnectFlags } from '../client/connect-client.ts';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';

export function clientCommand(context: Context): Command {
  return newCommand(context, {
    name: 'client',
    summary: 'connect MCP clients to this server',
    examples: [`${PROGRAM} client connect claude-code --write`],
  }).addCommand(connectCommand(context));
}

function connectCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'client connect',
    summary:
      'show the MCP settings for a client; with --write, create a key for it and write them to its settings file',
    examples: [
      `${PROGRAM} client connect cursor`,
      `${PROGRAM} client connect claude-code --write --tools "" --agents helper`,
    ],
  })
    .argument('<client>', 'claude-code, claude-desktop, cursor, vscode, codex, gemini, goose or zed')
    .option('--write', 'create a key and write the settings file, after a backup; needs the admin key')
    .option('--name <name>', "the server's name in the client's settings", 'dragoman')
    .addOption(
      new Option('--agents <ids>', 'agents that the client may call, separated by commas').default(undefined, '*'),
    )
    .addOption(new Option('--tools <names>', 'tools that the client may call').default(undefined, '*'))
    .addOption(new Option('--workflows <names>', 'stored workflows that the client may run').default(undefined, '*'))
    .addOption(
      new Option(
        '--operations <names>',
        'workflow operations that the client may use in workflows it writes; without any, it gets no run_workflow tool',
      ).default(undefined, ''),
    );
  withConnectionOptions(command, 'admin');
  return runs<ConnectFlags>(command, context, async (options, [client = '']) => {
    const { connectClient } = await import('../client/connect-client.ts');
    return connectClient(options, context, client);
  });
}

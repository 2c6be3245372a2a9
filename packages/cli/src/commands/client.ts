import type { Command } from 'commander';
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
    summary: 'show or write the MCP settings for a client, with a separate key',
    examples: [
      `${PROGRAM} client connect cursor`,
      `${PROGRAM} client connect claude-code --write --tools "" --agents helper`,
    ],
  })
    .argument('<client>', 'claude-code, claude-desktop, cursor, vscode, codex, gemini, goose or zed')
    .option('--write', 'create a key and write the settings file, after a backup; needs the admin key')
    .option('--name <name>', 'what the client calls this server', 'dragoman')
    .option('--agents <ids>', 'agents that the new key may call, separated by commas', '*')
    .option('--tools <names>', 'tools that the new key may call', '*')
    .option('--workflows <names>', 'stored workflows that the new key may run', '*')
    .option(
      '--operations <names>',
      'operations that its own workflows may use; if empty, the client has no run_workflow tool',
      '',
    );
  withConnectionOptions(command, 'admin');
  return runs<ConnectFlags>(command, context, async (options, [client = '']) => {
    const { connectClient } = await import('../client/connect-client.ts');
    return connectClient(options, context, client);
  });
}

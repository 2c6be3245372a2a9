import type { Command } from 'commander';
import { integer, newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { table } from '../table.ts';
import { visible } from '../visible.ts';

export function discoverCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents discover',
    summary: 'find healthy agents by capability',
    examples: [`${PROGRAM} agents discover --capability data_read`],
  })
    .option('--capability <name>', 'a capability the agent must have')
    .option('--name <part>', 'text to find in its name')
    .option('--limit <number>', 'maximum number of agents to return (default: 10)', integer({ from: 1, to: 100 }));
  withConnectionOptions(command, 'agent');
  type Options = ConnectionOptions & { capability?: string; name?: string; limit?: number };
  return runs<Options>(command, context, async ({ capability, name, limit, ...options }) => {
    const connection = await connect(options, context, 'agent');
    const messages = connection.client.agent({ agentId: '' });
    const agents = await talking(connection, 'agent', () => messages.registered({ capability, name, limit }));
    const rows = agents.map(({ agent_card: card, endpoint, source }) => [
      visible(String(card['agent_id'])),
      visible(String(card['name'])),
      visible((card['capabilities'] as string[]).join(', ')),
      source === 'configured' ? 'this server' : visible(endpoint),
    ]);
    const text = options.json
      ? `${JSON.stringify({ agents })}\n`
      : table(['AGENT', 'NAME', 'CAPABILITIES', 'LISTENS AT'], rows, context.terminal);
    context.terminal.out(text);
    return 0;
  });
}

import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { objectIn, readText } from '../input.ts';
import { visible } from '../visible.ts';

export function registerCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents register',
    summary: 'register an agent by its card and endpoint',
    examples: [`${PROGRAM} agents register --card card.json --endpoint https://desk.example.com/a2a/messages`],
  })
    .requiredOption('--card <file>', 'its card, JSON; use - to read it from stdin')
    .requiredOption('--endpoint <url>', 'where it listens');
  withConnectionOptions(command, 'agent');
  return runs<ConnectionOptions & { card: string; endpoint: string }>(command, context, async (options) => {
    const card = objectIn(await readText(options.card, context), '--card');
    const connection = await connect(options, context, 'agent');
    const agent = connection.client.agent({ agentId: String(card['agent_id']) });
    const answer = await talking(connection, 'agent', () => agent.register(card, options.endpoint));
    context.terminal.out(
      options.json ? `${JSON.stringify(answer)}\n` : `${answer.status} ${visible(String(card['agent_id']))}\n`,
    );
    return 0;
  });
}

import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { noSuchName } from '../no-such-name.ts';

export function acceptCardCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents accept',
    summary: 'accept the changed card of a foreign A2A agent',
    examples: [`${PROGRAM} agents accept partner`],
  }).argument('<agent_id>', 'the agent whose new card waits for approval');
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [agentId = '']) => {
    const connection = await connect(options, context, 'admin');
    const { agents } = connection.client.admin;
    const accepted = await talking(connection, 'admin', () =>
      agents.acceptCard(agentId).catch((error: unknown) =>
        noSuchName(error, {
          isIt: (refused) => refused.is('not_found'),
          name: agentId,
          message: `no changed card of ${JSON.stringify(agentId)} waits for approval`,
          known: async () => [...(await agents.heldCards()).held],
          list: `${PROGRAM} agents list`,
        }),
      ),
    );
    context.terminal.out(options.json ? `${JSON.stringify(accepted)}\n` : `accepted the card of ${agentId}\n`);
    return 0;
  });
}

import type { Command } from 'commander';
import type { AcpFlags } from '../acp/run-acp.ts';
import { newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
import { withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';

export function acpCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'acp',
    summary: 'connect an editor to the agents of a server: Agent Client Protocol on stdin and stdout',
    examples: [
      `${PROGRAM} acp --agent coder`,
      `${PROGRAM} acp --server https://agents.example.com --key-file key.txt`,
      `${PROGRAM} acp --config dragoman.yaml --data .dragoman`,
    ],
  })
    .option('--agent <id>', 'offer only this agent (default: the editor chooses one for each session)', nonEmptyName)
    .option('--server <url>', 'the same as --url')
    .option('--key-file <file>', 'a file with the key')
    .option('--config <file>', 'run the agents of this configuration in this process, without a server');
  withConnectionOptions(command, 'agent', {
    data: `with --config: where to store data (default: a temporary folder); without --config: the data folder of a running \`${PROGRAM} dev\`, to use its key`,
  });
  return runs<AcpFlags>(command, context, async (options) => {
    // Loaded on use: only this command needs the engine.
    const { runAcp } = await import('../acp/run-acp.ts');
    return runAcp(options, context);
  });
}

import type { Command } from 'commander';
import { newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { readText } from '../input.ts';
import { fail } from '../trouble.ts';

interface AcpOptions extends ConnectionOptions {
  readonly agent?: string;
  readonly server?: string;
  readonly keyFile?: string;
}

export function acpCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'acp',
    summary: 'let an editor use the agents of a server: the Agent Client Protocol on stdin and stdout',
    examples: [`${PROGRAM} acp --agent coder`, `${PROGRAM} acp --server https://agents.example.com --key-file key.txt`],
  })
    .option('--agent <id>', 'the only agent (the editor chooses one for each session)', nonEmptyName)
    .option('--server <url>', 'the same as --url')
    .option('--key-file <file>', 'a file with the key');
  withConnectionOptions(command, 'agent');
  return runs<AcpOptions>(command, context, async ({ server, keyFile, agent, ...options }) => {
    const key = keyFile === undefined ? options.key : (await readText(keyFile, context)).trim();
    if (key === '') fail({ code: 'missing_key', message: `no key in ${keyFile}` });
    const url = server ?? options.url;
    const given = { ...options, ...(url !== undefined && { url }), ...(key !== undefined && { key }) };
    const connection = await connect(given, context, 'agent');
    // Only who serves an editor pays for loading the engine.
    const { runAcp } = await import('../acp/run-acp.ts');
    return runAcp(connection, context, { agent });
  });
}

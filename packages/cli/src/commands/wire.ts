import type { Command } from 'commander';
import { newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { DEFAULT_CONFIG } from '../environment.ts';
import type { StdioHostFlags } from '../wire/stdio-host.ts';

export function wireCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'wire',
    summary: 'serve tools over A2E wire, on stdin and stdout, to the program that starts this command',
    examples: [
      `${PROGRAM} wire --config dragoman.yaml`,
      `echo '{"a2e":"1.0","type":"handshake/req","id":"1"}' | ${PROGRAM} wire`,
    ],
  })
    .option('--config <file>', `the configuration file (default: ${DEFAULT_CONFIG}, if it exists)`)
    .option('--data <folder>', 'the data folder (default: a temporary store, deleted on exit)', nonEmptyName);
  return runs<StdioHostFlags>(command, context, async (options) => {
    // Loaded on use: only this command needs a host.
    const { runWire } = await import('../wire/run-wire.ts');
    return runWire(options, context);
  });
}

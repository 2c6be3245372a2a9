import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { DEFAULT_DEV_DATA } from '../dev-keys.ts';
import type { DevOptions } from '../serve/dev.ts';
import { withAcceptLoss, withLogLevel, withServeOptions } from '../serve/serve-options.ts';

export function devCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'dev',
    summary: 'run the server with demo agents and a demo key, and suggest what to try',
    examples: [`${PROGRAM} dev`, `${PROGRAM} dev --port 0 --no-look`],
  }).option('--no-look', 'skip the demo requests at the start');
  withLogLevel(withAcceptLoss(withServeOptions(command, { data: DEFAULT_DEV_DATA })));
  return runs<DevOptions>(command, context, async (options) => {
    const { dev } = await import('../serve/dev.ts');
    return dev(options, context);
  });
}

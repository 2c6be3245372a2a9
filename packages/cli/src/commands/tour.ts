import type { Command } from 'commander';
import { newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { DEFAULT_DEV_DATA } from '../dev-keys.ts';
import type { TourOptions } from '../tour/tour.ts';

export function tourCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'tour',
    summary: 'run a demo over five protocols and show every message',
    examples: [`${PROGRAM} tour`, `${PROGRAM} tour --url http://127.0.0.1:7420 --json`],
  })
    .option(
      '--url <url>',
      `the URL of a running \`${PROGRAM} dev\` (default: the one whose data folder is --data; if none is running, a temporary server is started)`,
    )
    .option('--data <folder>', `where to read the demo keys (default: ${DEFAULT_DEV_DATA})`, nonEmptyName);
  return runs<TourOptions>(command, context, async (options) => {
    const { tour } = await import('../tour/tour.ts');
    return tour(options, context);
  });
}

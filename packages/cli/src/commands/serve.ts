import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { DEFAULT_DATA } from '../environment.ts';
import { withAcceptLoss, withLogLevel, withServeOptions } from '../serve/serve-options.ts';
import type { ServeOptions } from '../serve/settings.ts';

export function serveCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'serve',
    summary: 'run the server',
    examples: [`${PROGRAM} serve`, `${PROGRAM} serve --config dragoman.yaml --port 0 --json`],
  });
  withLogLevel(withAcceptLoss(withServeOptions(command, { data: DEFAULT_DATA })));
  command.option('--allow-empty', 'allow a reload (SIGHUP) that removes every agent');
  return runs<ServeOptions & { readonly allowEmpty?: boolean }>(command, context, async (options) => {
    // Loaded on use: only this command needs a server.
    const { serve } = await import('../serve/serve.ts');
    return serve(options, context);
  });
}

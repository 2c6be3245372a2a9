import type { Command } from 'commander';
import { integer, newCommand, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { DEFAULT_DEV_DATA } from '../dev-keys.ts';
import { LISTEN_PORT } from '../listen/certificate.ts';
import type { ListenOptions } from '../listen/listen.ts';

export function listenCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'listen',
    summary: 'receive callbacks on this machine, check their signatures and show them; Ctrl-C ends it',
    examples: [`${PROGRAM} listen`, `${PROGRAM} listen --port 0 --public-key whpk_… --json`],
  })
    .option('--port <number>', `the port, 0 for any free one (${LISTEN_PORT})`, integer({ from: 0, to: 65_535 }))
    .option('--public-key <whpk>', 'the key callbacks are signed with (that of the running server)')
    .option('--secret <whsec>', 'the secret of your agent, to check by instead')
    .option('--url <url>', 'the server to ask for its key (the one that runs here)')
    .option('--data <folder>', `where the certificate is kept (${DEFAULT_DEV_DATA})`);
  return runs<ListenOptions>(command, context, async (options) => {
    const { listen } = await import('../listen/listen.ts');
    return listen(options, context);
  });
}

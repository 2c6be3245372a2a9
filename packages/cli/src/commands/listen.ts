import { type Command, InvalidArgumentError } from 'commander';
import { integer, newCommand, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { DEFAULT_DEV_DATA } from '../dev-keys.ts';
import { LISTEN_PORT } from '../listen/certificate.ts';
import type { ListenOptions } from '../listen/listen.ts';

export function listenCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'listen',
    summary: 'receive callbacks on this machine, verify their signatures and show them; Ctrl-C stops it',
    examples: [`${PROGRAM} listen`, `${PROGRAM} listen --port 0 --public-key whpk_… --json`],
  })
    .option('--port <number>', `the port, 0 for any free one (${LISTEN_PORT})`, integer({ from: 0, to: 65_535 }))
    .option('--public-key <whpk>', 'the key callbacks are signed with (that of the running server)', publicKey)
    .option('--secret <whsec>', 'the secret of your agent, to check by instead', secret)
    .option('--url <url>', 'the server to ask for its key (the one that runs here)')
    .option('--data <folder>', `where the certificate is kept (${DEFAULT_DEV_DATA})`);
  return runs<ListenOptions>(command, context, async (options) => {
    const { listen } = await import('../listen/listen.ts');
    return listen(options, context);
  });
}

/** 32 bytes. Checked at the start: with another key every callback would be refused. */
function publicKey(text: string): string {
  if (/^whpk_[A-Za-z0-9+/]{43}=$/.test(text)) return text;
  throw new InvalidArgumentError('Give whpk_ and base64, as returned by GET /agent of the server.');
}

function secret(text: string): string {
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return text;
  throw new InvalidArgumentError('Give whsec_ and base64, as it was shown when the agent was made.');
}

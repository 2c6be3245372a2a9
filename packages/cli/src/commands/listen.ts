import { type Command, InvalidArgumentError } from 'commander';
import { integer, newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
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
    .option(
      '--port <number>',
      `the port; 0 picks a free port (default: ${LISTEN_PORT})`,
      integer({ from: 0, to: 65_535 }),
    )
    .option(
      '--public-key <whpk>',
      'the public key of the server, to verify callbacks (default: from the running server)',
      publicKey,
    )
    .option('--secret <whsec>', 'verify with the secret of your agent instead of a public key', secret)
    .option('--url <url>', 'the server to get the public key from (default: the one running on this machine)')
    .option('--data <folder>', `the folder for the certificate (default: ${DEFAULT_DEV_DATA})`, nonEmptyName);
  return runs<ListenOptions>(command, context, async (options) => {
    const { listen } = await import('../listen/listen.ts');
    return listen(options, context);
  });
}

/** Checks the form of the key, which has 32 bytes: with a wrong key every callback would be refused. */
function publicKey(text: string): string {
  if (/^whpk_[A-Za-z0-9+/]{43}=$/.test(text)) return text;
  throw new InvalidArgumentError('It must be whpk_ and base64, as shown by GET /agent of the server.');
}

function secret(text: string): string {
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be whsec_ and base64, as shown when the agent was created.');
}

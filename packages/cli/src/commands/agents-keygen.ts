import { generateKeyPair } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Command, Option } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import { fail } from '../trouble.ts';

export function keygenCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents keygen',
    summary: 'create a key pair for signing A2A messages',
    examples: [`${PROGRAM} agents keygen --out desk.pem`],
  })
    .requiredOption(
      '--out <file>',
      'the file for the private key, readable only by its owner; an existing file is not overwritten',
    )
    .addOption(new Option('--kind <kind>', 'the kind of key').choices(Object.keys(KINDS)).default('ed25519'));
  return runs<{ out: string; kind: keyof typeof KINDS }>(command, context, async ({ out, kind, json }) => {
    const { privateKey, publicKey } = await KINDS[kind]();
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    try {
      const text = privateKey.export({ format: 'pem', type: 'pkcs8' });
      writeFileSync(resolve(context.folder, out), text, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
      const message = `${out} ${isThere ? 'already exists' : 'cannot be written'}`;
      fail({ code: 'unwritable', message, fixes: ['name another file with --out'] });
    }
    if (json) context.terminal.out(`${JSON.stringify({ private_key: out, public_key: pem })}\n`);
    else {
      context.terminal.note(`the private key is in ${out}; the public one, for agents add --public-key:\n`);
      context.terminal.out(pem);
    }
    return 0;
  });
}

// Asynchronous, because an RSA key takes seconds on a busy machine.
const generate = promisify(generateKeyPair);

const KINDS = {
  ed25519: () => generate('ed25519'),
  p256: () => generate('ec', { namedCurve: 'P-256' }),
  rsa: () => generate('rsa', { modulusLength: 3072 }),
};

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Log } from '../ports.ts';
import { writeSecretFile } from '../secret-file.ts';
import { privateKeyIn } from './private-key.ts';

/** The key in a file that only its owner may read; an Ed25519 one is made when there is none. `signs` says what it is for. */
export function keyIn(path: string, { log, signs }: { log: Log; signs: string }): KeyObject {
  if (!existsSync(path)) writeSecretFile(path, newKey().export({ format: 'pem', type: 'pkcs8' }).toString());
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    log.warn({ path }, `others can read the key that signs ${signs}; chmod 600 mends that`);
  }
  const key = privateKeyIn(readFileSync(path));
  if (key !== undefined) return key;
  throw new Error(
    `${path} is not a private key in PEM form, of Ed25519, ECDSA P-256 or RSA. Put a backup in its place, or move it away to begin with a new key.`,
  );
}

export function newKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey;
}

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Log } from '../ports/ports.ts';
import { writeSecretFile } from '../secrets/secret-file.ts';
import { privateKeyIn } from './private-key.ts';

export interface KeyFileOptions {
  readonly log: Log;
  /** What the key signs, for messages. */
  readonly signs: string;
  /** Whether only an Ed25519 key is accepted. Default: false. */
  readonly isEd25519?: boolean;
}

/** Reads the key in a file. If the file is missing, creates it with a new Ed25519 key, readable only for its owner. */
export function keyIn(path: string, { log, signs, isEd25519 = false }: KeyFileOptions): KeyObject {
  if (!existsSync(path)) writeSecretFile(path, pemOf(newKey()));
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    log.warn({ path }, `others can read the key that signs ${signs}; chmod 600 fixes that`);
  }
  return signingKeyIn(readFileSync(path, 'utf8'), { place: path, signs, isEd25519 });
}

/** Reads the key in a PEM text from a place, which errors name. Throws for a key that cannot sign. */
export function signingKeyIn(
  pem: string,
  { place, signs, isEd25519 = false }: Omit<KeyFileOptions, 'log'> & { readonly place: string },
): KeyObject {
  const key = privateKeyIn(pem);
  const kinds = isEd25519 ? 'Ed25519' : 'Ed25519, ECDSA P-256 or RSA';
  if (key === undefined) throw new Error(`${place} must be a private key in PEM form, of kind ${kinds}. ${WAY_OUT}`);
  const { asymmetricKeyType: kind } = key;
  if (!isEd25519 || kind === 'ed25519') return key;
  throw new Error(
    `${place} must be an Ed25519 key, the only kind that signs ${signs}; it is of kind ${kind}. ${WAY_OUT}`,
  );
}

export function newKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey;
}

export function pemOf(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}

const WAY_OUT = 'Put a backup in its place, or move it away to begin with a new key.';

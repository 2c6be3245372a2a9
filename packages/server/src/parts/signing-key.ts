import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPostgresUrl, keyIn, newKey, pemOf, signingKeyIn } from '@dragoman/core';
import type { Service } from './service.ts';

export interface SigningKeyOptions {
  /** The name of its file in the data folder. */
  readonly file: string;
  /** What the key signs, such as `callbacks`; for error messages. */
  readonly signs: string;
  /** Whether the key must be an Ed25519 key. */
  readonly isEd25519?: boolean;
}

/**
 * A key of this server: in a file that only its owner may read, or in the vault where several nodes share a database
 * and must sign with the same one.
 */
export async function signingKey(
  { config, folder, vault, log }: Pick<Service, 'config' | 'folder' | 'vault' | 'log'>,
  { file, ...options }: SigningKeyOptions,
): Promise<KeyObject> {
  if (config.store === 'memory') return newKey();
  const path = join(folder, file);
  if (!isPostgresUrl(config.store)) return keyIn(path, { log, ...options });
  // The folder may come from a server with an embedded store, whose receivers know this key.
  const first = () => (existsSync(path) ? readFileSync(path, 'utf8') : pemOf(newKey()));
  const pem = await vault.keep(file, () => pemOf(signingKeyIn(first(), { place: path, ...options })));
  return signingKeyIn(pem, { place: `${file} in the vault`, ...options });
}

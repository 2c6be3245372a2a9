import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../ports/ports.ts';
import { syncFolder, writeSecretFile } from '../secrets/secret-file.ts';
import { VaultError } from './vault-error.ts';
import { keyFault } from './vault-key.ts';

/** Provides the key of the vault, and stores a new one when it changes. */
export interface KeySource {
  /** The name of the source in messages to operators. */
  readonly name: string;
  /** Texts that may be the key: more than one after an interrupted change, or when the operator names the next key. */
  candidates(): readonly string[];
  /** The key for a vault that has none yet. */
  create(): string;
  /** The key to change to if the operator gives none; `undefined` if only the operator can choose it. */
  next(): string | undefined;
  /** Stores the key of a change that is about to begin, beside the current one. */
  stage(text: string): void;
  /** Makes a key the only one, after a change. */
  settle(text: string): void;
}

/**
 * The key in the environment. After a change the operator must change it there, too, before the next start. A process
 * that also has `next`, the key to change to, follows the change while it runs.
 */
export function environmentKey(text: string, next?: string): KeySource {
  for (const [name, value] of [
    ['DRAGOMAN_VAULT_KEY', text],
    ['DRAGOMAN_VAULT_KEY_NEXT', next],
  ]) {
    const fault = value === undefined ? undefined : keyFault(value);
    if (fault !== undefined) throw new VaultError(`${name} is not a valid key: ${fault}.`);
  }
  return {
    name: 'DRAGOMAN_VAULT_KEY',
    candidates: () => (next === undefined ? [text] : [text, next]),
    create: () => text,
    next: () => next,
    stage: () => {},
    settle: () => {},
  };
}

/** A key in a file beside the database, for its owner only. A copy of the database alone is useless without it. */
export function fileKey({ folder, log }: { folder: string; log: Log }): KeySource {
  const path = join(folder, KEY_FILE);
  const staged = join(folder, `${KEY_FILE}.next`);
  return {
    name: path,
    candidates: () =>
      [path, staged].flatMap((file) => {
        if (!existsSync(file)) return [];
        keepPrivate(file, log);
        return readFileSync(file, 'utf8').trim();
      }),
    create: () => {
      const text = newKey();
      // The key must be on the disk before anything is sealed with it.
      writeSecretFile(path, `${text}\n`);
      return text;
    },
    next: newKey,
    stage: (text) => writeSecretFile(staged, `${text}\n`),
    settle: (text) => {
      if (!existsSync(staged)) return;
      if (readFileSync(staged, 'utf8').trim() === text) renameSync(staged, path);
      else rmSync(staged);
      syncFolder(folder);
    },
  };
}

/** A temporary key, for a store in memory. */
export function passingKey(): KeySource {
  return { name: 'memory', candidates: () => [], create: newKey, next: newKey, stage: () => {}, settle: () => {} };
}

function newKey(): string {
  return randomBytes(32).toString('base64url');
}

function keepPrivate(path: string, log: Log): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return;
  chmodSync(path, 0o600);
  log.warn({ path }, 'other users could read the key of the vault; its mode is now 600; run vault rotate');
}

export const KEY_FILE = 'vault.key';

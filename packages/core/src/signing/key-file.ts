import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import type { Log } from '../ports.ts';

/** The Ed25519 key in a file that only its owner may read; made when there is none. `signs` says what it is for. */
export function keyIn(path: string, { log, signs }: { log: Log; signs: string }): KeyObject {
  if (!existsSync(path)) writeWhole(path, newKey().export({ format: 'pem', type: 'pkcs8' }));
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    log.warn({ path }, `others can read the key that signs ${signs}; chmod 600 mends that`);
  }
  try {
    return createPrivateKey(readFileSync(path));
  } catch {
    throw new Error(
      `${path} is not a private key in PEM form. Put a backup in its place, or move it away to begin with a new key.`,
    );
  }
}

export function newKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey;
}

/** All of it or nothing, whenever the power goes. */
function writeWhole(path: string, text: string | Buffer): void {
  const draft = `${path}.new`;
  const file = openSync(draft, 'w', 0o600);
  writeSync(file, text.toString());
  fsyncSync(file);
  closeSync(file);
  renameSync(draft, path);
}

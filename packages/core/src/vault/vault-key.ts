import { createHmac, hkdfSync, scrypt, timingSafeEqual } from 'node:crypto';

/** The keys that are derived from a vault key, one for each use. */
export interface VaultKeys {
  readonly sealing: Buffer;
  readonly binding: Buffer;
  /** Identifies this key without revealing it. */
  readonly check: string;
}

/**
 * Derives the keys of a vault with this salt. A text that encodes 32 bytes is a key; any other is a passphrase, for
 * scrypt.
 */
export async function deriveKeys(text: string, salt: Buffer): Promise<VaultKeys> {
  const master = keyBytes(text) ?? (await stretched(text, salt));
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', master, salt, `dragoman vault ${use}`, 32));
  return {
    sealing: derive('sealing'),
    binding: derive('binding'),
    check: createHmac('sha256', derive('check')).update('key check').digest('base64').slice(0, 22),
  };
}

export function isSameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Why a text is not a suitable key; `undefined` if it is one. */
export function keyFault(text: string): string | undefined {
  if (keyBytes(text) !== undefined || text.length >= MIN_PASSPHRASE) return undefined;
  return `it must be 32 bytes in hex or base64, or a passphrase of at least ${MIN_PASSPHRASE} characters; got ${text.length}`;
}

/** The 32 bytes that a text encodes in hex, base64 or base64url; `undefined` for any other text. */
function keyBytes(text: string): Buffer | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function stretched(passphrase: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

const MIN_PASSPHRASE = 16;

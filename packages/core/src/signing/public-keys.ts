import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isKeyKind, schemeOf } from './key-kinds.ts';

/** A key for verifying signatures. The key decides the algorithm, never the message. */
export interface PublicKey {
  readonly key: KeyObject;
  /** `sha256:` and the SHA-256 of its DER SubjectPublicKeyInfo. */
  readonly fingerprint: string;
}

/** The keys in a text: one PEM, or two while one replaces the other. Throws for anything else. */
export function publicKeysIn(pem: string): PublicKey[] {
  const blocks = pem.match(PEM_BLOCK);
  if (blocks === null || blocks.length > MOST_KEYS || pem.replace(PEM_BLOCK, '').trim() !== '')
    throw new Error('no key');
  return blocks.map((block) => {
    const key = createPublicKey({ key: block, format: 'pem', type: 'spki' });
    if (!isKeyKind(key)) throw new Error('no key of these kinds');
    return { key, fingerprint: fingerprintOf(key) };
  });
}

/** The expected form of a key, worded to follow "must be"; `undefined` for a valid key. */
export function publicKeyFault(pem: string): string | undefined {
  try {
    publicKeysIn(pem);
    return undefined;
  } catch {
    return 'an SPKI PEM of an Ed25519, ECDSA P-256 or RSA key (2048 to 8192 bits), such as `agents keygen` writes; at most two';
  }
}

export function fingerprintOf(key: KeyObject): string {
  return `sha256:${createHash('sha256')
    .update(key.export({ format: 'der', type: 'spki' }))
    .digest('hex')}`;
}

/** Verifies a signature with this key, on a pool thread. */
export function isSignedBy({ key }: PublicKey, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const { digest, options } = schemeOf(key);
  return new Promise((resolve) => {
    verify(digest, bytes, { key, ...options }, signature, (error, isGood) => resolve(error === null && isGood));
  });
}

const PEM_BLOCK = /-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]{1,4000}-----END PUBLIC KEY-----/g;
const MOST_KEYS = 2;

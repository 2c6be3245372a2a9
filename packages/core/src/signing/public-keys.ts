import { constants, createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** A key signatures are checked with. Which algorithm it takes is the key's matter, never the message's. */
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
    if (!isSupported(key)) throw new Error('no key of these kinds');
    return { key, fingerprint: fingerprintOf(key) };
  });
}

/** What a text should be that is no key, as the end of a sentence; `undefined` when it is one. */
export function publicKeyFault(pem: string): string | undefined {
  try {
    publicKeysIn(pem);
    return undefined;
  } catch {
    return 'an SPKI PEM of an Ed25519, ECDSA P-256 or RSA key (2048 bits or more), such as `agents keygen` writes; at most two';
  }
}

export function fingerprintOf(key: KeyObject): string {
  return `sha256:${createHash('sha256')
    .update(key.export({ format: 'der', type: 'spki' }))
    .digest('hex')}`;
}

/** Whether a signature is this key's. Works on a thread of the pool: the event loop goes on. */
export function isSignedBy({ key }: PublicKey, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    verify(
      ALGORITHMS.get(key.asymmetricKeyType) ?? null,
      bytes,
      { key, ...OPTIONS.get(key.asymmetricKeyType) },
      signature,
      (error, isGood) => resolve(error === null && isGood),
    );
  });
}

function isSupported({ asymmetricKeyType: type, asymmetricKeyDetails: details, type: kind }: KeyObject): boolean {
  if (kind !== 'public') return false;
  if (type === 'ed25519') return true;
  if (type === 'ec') return details?.namedCurve === 'prime256v1';
  return (type === 'rsa' || type === 'rsa-pss') && (details?.modulusLength ?? 0) >= 2048;
}

type KeyType = KeyObject['asymmetricKeyType'];
const ALGORITHMS: ReadonlyMap<KeyType, string> = new Map<KeyType, string>([
  ['ec', 'sha256'],
  ['rsa', 'sha256'],
  ['rsa-pss', 'sha256'],
]);
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
const OPTIONS: ReadonlyMap<KeyType, object> = new Map<KeyType, object>([
  ['ec', { dsaEncoding: 'der' }],
  ['rsa', PSS],
  ['rsa-pss', PSS],
]);
const PEM_BLOCK = /-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]{1,4000}-----END PUBLIC KEY-----/g;
const MOST_KEYS = 2;

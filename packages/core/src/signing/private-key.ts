import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { isKeyKind, schemeOf } from './key-kinds.ts';

/** The private key in a PEM; `undefined` when it is none that messages can be signed with. */
export function privateKeyIn(pem: string | Buffer): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return isKeyKind(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Signs as the kind of the key does. Works on a thread of the pool: the event loop goes on. */
export function signedBy(key: KeyObject, bytes: Uint8Array): Promise<Buffer> {
  const { digest, options } = schemeOf(key);
  return new Promise((resolve, reject) => {
    sign(digest, bytes, { key, ...options }, (error, signature) =>
      error === null ? resolve(signature) : reject(error),
    );
  });
}

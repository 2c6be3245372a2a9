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

/** The signature of a text or bytes, in base64, as the kind of the key makes it. Nothing else goes on meanwhile. */
export function signatureOf(key: KeyObject, content: string | Uint8Array): string {
  const { digest, options } = schemeOf(key);
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return sign(digest, bytes, { key, ...options }).toString('base64');
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

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { isKeyKind, schemeOf } from './key-kinds.ts';

/** The private key in a PEM; `undefined` if messages cannot be signed with it. */
export function privateKeyIn(pem: string | Buffer): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return isKeyKind(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The signature of a text or bytes, in base64, with the algorithm of the key. It blocks the event loop. */
export function signatureOf(key: KeyObject, content: string | Uint8Array): string {
  const { digest, options } = schemeOf(key);
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return sign(digest, bytes, { key, ...options }).toString('base64');
}

/** Signs with the algorithm of the key, on a thread of the pool: the event loop is free. */
export function signedBy(key: KeyObject, bytes: Uint8Array): Promise<Buffer> {
  const { digest, options } = schemeOf(key);
  return new Promise((resolve, reject) => {
    sign(digest, bytes, { key, ...options }, (error, signature) =>
      error === null ? resolve(signature) : reject(error),
    );
  });
}

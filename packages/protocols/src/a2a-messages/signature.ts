import { canonicalJson } from '../canonical-json.ts';
import type { Json } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { encodeUtf8 } from '../platform.ts';
import type { A2AMessage } from './message.ts';

/** The signed content, as text and as bytes. */
export interface SignedContent {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/**
 * The content a signature covers: the message without `auth.signature`, so that the signer, the time, the nonce and the
 * recipient are covered, as RFC 8785 canonical JSON. An absent `correlation_id` is written as null, because both mean
 * the same.
 *
 * Refuses a message without a canonical form: with half a surrogate pair, or nested deeper than the stack.
 */
export function signedContent(message: A2AMessage): Outcome<SignedContent> {
  const { auth } = message;
  // An undefined member is not written.
  const unsigned = auth && { ...auth, signature: undefined };
  const content = { ...message, correlation_id: message.correlation_id ?? null, auth: unsigned };
  try {
    const text = canonicalJson(content as unknown as Json);
    return accept({
      text,
      get bytes() {
        return encodeUtf8(text);
      },
    });
  } catch {
    return reject({
      pointer: '',
      code: 'not_canonical',
      message:
        'the message must have a canonical form (RFC 8785); it contains a lone surrogate or is nested too deeply',
    });
  }
}

/**
 * Standard Base64 only: the alphabet with `+` and `/`, padded, no white space, no stray bits behind the
 * last byte. Every signature has exactly one spelling.
 */
export function isStrictBase64(text: string): boolean {
  if (text === '' || text.length % 4 !== 0 || !BASE64.test(text)) return false;
  if (text.endsWith('==')) return 'AQgw'.includes(text.charAt(text.length - 3));
  if (text.endsWith('=')) return 'AEIMQUYcgkosw048'.includes(text.charAt(text.length - 2));
  return true;
}

/** `sha256:` and the SHA-256 of the key's DER SubjectPublicKeyInfo. It suggests a key to try, and never selects one. */
export const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;

// No group inside the repetition: it would overflow the stack for a text of several megabytes.
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

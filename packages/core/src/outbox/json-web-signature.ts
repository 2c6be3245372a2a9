import type { JsonObject } from '@dragoman/protocols';
import type { SigningKeys } from './signing-keys.ts';

/** A detached signature (RFC 7515 appendix F), by Ed25519 (RFC 8037): verifiers have the text already. */
export async function jsonWebSignature(
  text: string,
  keys: Pick<SigningKeys, 'jwk' | 'sign'>,
  header: JsonObject = {},
): Promise<{ protected: string; signature: string }> {
  const { alg, kid } = keys.jwk;
  const protectedHeader = encoded(JSON.stringify({ alg, kid, typ: 'JOSE', ...header }));
  // The signed text has one dot, and that of a callback at least two, so that neither signature can pass for the other.
  const signature = await keys.sign(`${protectedHeader}.${encoded(text)}`);
  return { protected: protectedHeader, signature: Buffer.from(signature, 'base64').toString('base64url') };
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}

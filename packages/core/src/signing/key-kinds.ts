import { constants, type KeyObject } from 'node:crypto';

/** How a kind of key signs. The key alone decides, never a message. */
export interface Scheme {
  /** Null for an algorithm that defines the digest itself. */
  readonly digest: string | null;
  readonly options: { readonly dsaEncoding?: 'der'; readonly padding?: number; readonly saltLength?: number };
}

/** Ed25519, ECDSA P-256 with SHA-256 in DER, or RSA-PSS with SHA-256 and a salt of 32 bytes. */
export function schemeOf({ asymmetricKeyType: type }: KeyObject): Scheme {
  return SCHEMES.get(type) ?? ED25519;
}

/** Whether messages can be signed with a key of this kind, public or private. */
export function isKeyKind({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): boolean {
  if (type === 'ed25519') return true;
  if (type === 'ec') return details.namedCurve === 'prime256v1';
  if (type !== 'rsa' && type !== 'rsa-pss') return false;
  const { modulusLength = 0, hashAlgorithm = SHA, mgf1HashAlgorithm = SHA, saltLength = SALT } = details;
  // A key may be restricted to a hash and a salt length. With other ones it cannot make signatures that we accept.
  const isOurs = hashAlgorithm === SHA && mgf1HashAlgorithm === SHA && saltLength <= SALT;
  return isOurs && modulusLength >= 2048 && modulusLength <= 8192;
}

const SHA = 'sha256';
const SALT = 32;
const ED25519: Scheme = { digest: null, options: {} };
const PSS: Scheme = { digest: SHA, options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: SALT } };
const SCHEMES: ReadonlyMap<string | undefined, Scheme> = new Map([
  ['ed25519', ED25519],
  ['ec', { digest: SHA, options: { dsaEncoding: 'der' as const } }],
  ['rsa', PSS],
  ['rsa-pss', PSS],
]);

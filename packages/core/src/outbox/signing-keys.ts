import { createPublicKey, hash, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { newKey } from '../signing/key-file.ts';
import { signatureOf } from '../signing/private-key.ts';
import type { Signatures } from '../signing/signatures.ts';
import type { OutboxStore } from '../store/store.ts';

export interface SigningKeysOptions {
  readonly store: OutboxStore;
  readonly signatures: Signatures;
  /** An Ed25519 key. Default: a temporary one. */
  readonly key?: KeyObject;
}

export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

/**
 * The keys that sign callbacks: one Ed25519 key, created at the first start, and a shared secret for each registered agent. That
 * secret is derived from the key and a salt, so that the database alone contains no secret.
 */
export class SigningKeys {
  /** The public key as Standard Webhooks writes it: `whpk_` and the 32 bytes in base64. */
  readonly publicKey: string;
  /** The public key as JSON Web Key (RFC 8037); its id is its thumbprint (RFC 7638). */
  readonly jwk: PublicJwk;
  readonly #privateKey: KeyObject;
  readonly #signatures: Signatures;
  readonly #store: OutboxStore;
  readonly #seed: Buffer;
  readonly #secrets = new Map<string, Buffer>();

  constructor({ store, signatures, key = newKey() }: SigningKeysOptions) {
    this.#store = store;
    this.#signatures = signatures;
    this.#privateKey = key;
    const { x = '' } = createPublicKey(this.#privateKey).export({ format: 'jwk' });
    this.publicKey = `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
    const kid = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');
    this.jwk = { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' };
    const { d = '' } = this.#privateKey.export({ format: 'jwk' });
    this.#seed = Buffer.from(d, 'base64url');
  }

  /**
   * The Ed25519 signature of a text, in base64. Short texts are signed at once; long ones, and those signed ahead, on a
   * thread.
   */
  async sign(text: string, { isAhead = false }: { readonly isAhead?: boolean } = {}): Promise<string> {
    if (!isAhead && text.length <= SHORT) return signatureOf(this.#privateKey, text);
    return this.#signatures.sign(this.#privateKey, text);
  }

  /** The shared secret of a registered agent, for HMAC. */
  async secretOf(agentId: string): Promise<Buffer> {
    const known = this.#secrets.get(agentId);
    if (known !== undefined) return known;
    const salt = await this.#store.salt(agentId, randomBytes(16).toString('hex'));
    const secret = Buffer.from(hkdfSync('sha256', this.#seed, salt, `dragoman callbacks ${agentId}`, 32));
    this.#secrets.set(agentId, secret);
    return secret;
  }

  /** The shared secret in the form that is shown to its owner, only once. */
  async shownSecretOf(agentId: string): Promise<string> {
    return `whsec_${(await this.secretOf(agentId)).toString('base64')}`;
  }

  /** Forgets all secrets, because another process may have removed an agent. They are looked up again. */
  reload(): void {
    this.#secrets.clear();
  }

  /** Deletes the salt and secret of a removed agent, so that the next agent of that id gets another. */
  async forget(agentId: string): Promise<void> {
    await this.#store.forgetSalt(agentId);
    this.#secrets.delete(agentId);
  }
}

/** The most characters of a short text. */
const SHORT = 8192;

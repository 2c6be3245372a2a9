import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/**
 * Where the next page of an owner's list begins, sealed with AES-256-GCM: the number in it counts what all owners have together,
 * which is nobody's business. It is bound to its owner: another's is no cursor at all.
 */
export class Cursors {
  readonly #key: () => Buffer;

  /** `key`: the one there is now. A cursor of an earlier one is none any more. */
  constructor(key: () => Buffer) {
    this.#key = key;
  }

  make(owner: string, number: number): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key(), nonce).setAAD(Buffer.from(owner));
    const sealed = [cipher.update(String(number).padStart(DIGITS, '0'), 'latin1'), cipher.final()];
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** `undefined` for anything that was not made here for this owner. */
  numberIn(cursor: string, owner: string): number | undefined {
    const bytes = Buffer.from(cursor, 'base64url');
    if (bytes.length !== NONCE_BYTES + DIGITS + TAG_BYTES) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key(), bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const sealed = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
      return Number(Buffer.concat([decipher.update(sealed), decipher.final()]).toString('latin1'));
    } catch {
      return undefined;
    }
  }
}

/** Of the largest number; all cursors are of one length, so that this tells nothing either. */
const DIGITS = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

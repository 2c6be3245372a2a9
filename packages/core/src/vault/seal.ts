import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { CredentialRow, VaultSeal } from '../store/credentials.ts';
import { isSameText, type VaultKeys } from './vault-key.ts';

/** A credential without its secret. */
export type OpenPart = Omit<CredentialRow, 'nonce' | 'sealed'>;

/**
 * Seals a secret with AES-256-GCM. The rest of the row is authenticated with it, so a secret does not open under
 * another id, version, host or place.
 */
export function sealSecret(row: OpenPart, value: string, { sealing }: VaultKeys): CredentialRow {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(boundTo(row));
  const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { ...row, nonce: nonce.toString('base64'), sealed: sealed.toString('base64') };
}

/** The secret; `undefined` when anything in the row was changed. */
export function openSecret(row: CredentialRow, { sealing }: VaultKeys): string | undefined {
  const nonce = Buffer.from(row.nonce, 'base64');
  const sealed = Buffer.from(row.sealed, 'base64');
  if (
    nonce.length !== 12 ||
    sealed.length < TAG_BYTES ||
    !isCanonical(row.nonce, nonce) ||
    !isCanonical(row.sealed, sealed)
  )
    return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', sealing, nonce, { authTagLength: TAG_BYTES })
      .setAAD(boundTo(row))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Encrypts a text that is not a credential. It opens only with the same `bound`, which names its purpose. */
export function sealText(text: string, bound: string, key: Buffer): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(`text ${bound}`));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** The text; `undefined` when it was changed, or sealed for another purpose or with another key. */
export function openText(sealed: string, bound: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(`text ${bound}`))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** The list of sealed secrets, and the last version number. */
export interface Manifest {
  readonly lastVersion: number;
  /** Version and nonce by id. No nonce is used twice, so an older row of the same id does not fit. */
  readonly records: Readonly<Record<string, readonly [version: number, nonce: string]>>;
}

export function manifestOf(rows: Iterable<CredentialRow>, lastVersion: number): Manifest {
  const records = [...rows].map(({ credentialId, version, nonce }) => [credentialId, [version, nonce]] as const);
  return { lastVersion, records: Object.fromEntries(records) };
}

export function sealManifest(manifest: Manifest, salt: Buffer, keys: VaultKeys): VaultSeal {
  const text = JSON.stringify(manifest);
  return { salt: salt.toString('base64'), keyCheck: keys.check, manifest: text, mac: macOf(text, keys) };
}

/** The manifest; `undefined` when it was changed after it was sealed. */
export function openManifest({ manifest, mac }: VaultSeal, keys: VaultKeys): Manifest | undefined {
  return isSameText(mac, macOf(manifest, keys)) ? (JSON.parse(manifest) as Manifest) : undefined;
}

export function fits({ credentialId, version, nonce }: CredentialRow, { records }: Manifest): boolean {
  const known = Object.hasOwn(records, credentialId) ? records[credentialId] : undefined;
  return known !== undefined && known[0] === version && known[1] === nonce;
}

function boundTo({ credentialId, version, type, hosts, places, description, createdAt, updatedAt }: OpenPart): Buffer {
  return Buffer.from(JSON.stringify([credentialId, version, type, hosts, places, description, createdAt, updatedAt]));
}

function macOf(text: string, { binding }: VaultKeys): string {
  return createHmac('sha256', binding).update(text).digest('base64');
}

/** Base64 can write the same bytes in several ways; only ours is accepted. */
function isCanonical(text: string, bytes: Buffer): boolean {
  return bytes.toString('base64') === text;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

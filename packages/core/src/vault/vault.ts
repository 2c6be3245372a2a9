import { randomBytes } from 'node:crypto';
import { type Failure, failure } from '@dragoman/protocols';
import { type HostPort, nameOfHostPort } from '../gate/host-port.ts';
import type { PlacedCredential, SecretPlace } from '../gate/injection.ts';
import type { Redactor } from '../gate/redactor.ts';
import type { ReleasedSecrets, Secrets, SecretUse } from '../gate/secrets.ts';
import type { Clock, Log } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import type { CredentialRow, CredentialStore, ReceiptRow, VaultSeal } from '../store/credentials.ts';
import { credentialRefused } from './credential-refused.ts';
import { MIN_SECRET_BYTES, type NewCredential } from './decode-credential.ts';
import type { KeySource } from './key-source.ts';
import { fits, manifestOf, openManifest, openSecret, openText, sealManifest, sealSecret, sealText } from './seal.ts';
import { SecretRedactor } from './secret-redactor.ts';
import { VaultError } from './vault-error.ts';
import { deriveKeys, keyFault, type VaultKeys } from './vault-key.ts';

export interface VaultOptions {
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: KeySource;
}

/** A credential without its secret. */
export interface VaultCredential {
  readonly id: string;
  readonly type: string;
  readonly hosts: readonly string[];
  readonly places: readonly SecretPlace[];
  readonly description: string | null;
  /** Every secret that was ever put has another version. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Whether it was changed outside of the vault, so that it is not used any more. */
  readonly damaged: boolean;
}

/** Opens the vault in a store. Throws a `VaultError` when its key is not the right one. */
export async function openVault({ store, clock, log, key }: VaultOptions): Promise<Vault> {
  const { seal, rows } = await sealedRows(store);
  if (seal === undefined) {
    if (rows.length > 0) throw new VaultError('The vault has lost its seal, so its credentials cannot be trusted.');
    const salt = randomBytes(16);
    const keys = await deriveKeys(key.candidates()[0] ?? key.create(), salt);
    const first = sealManifest(manifestOf([], 0), salt, keys);
    // When another process has sealed it first, the vault is opened again with that seal.
    if (!(await store.put([], first, null))) return openVault({ store, clock, log, key });
    return new Vault({ store, clock, log, key }, { salt, keys, mac: first.mac, rows: [], lastVersion: 0 });
  }
  const keys = await keysOf(seal, key);
  if (keys === undefined) {
    throw new VaultError(
      `The vault was encrypted with a different key than the one in ${key.name}. ` +
        'Restore that key; without it no credential in the vault can be read.',
    );
  }
  const state = { salt: saltOf(seal), keys, mac: seal.mac, rows, ...judged(seal, rows, keys, log) };
  return new Vault({ store, clock, log, key }, state);
}

/**
 * Keeps secrets sealed. Releases a secret only to the gate, for the hosts and places that it is bound to, or to a
 * program that the configuration starts; and only after the use is recorded.
 */
export class Vault implements Secrets {
  readonly #options: VaultOptions;
  readonly #entries = new Map<string, Entry>();
  /** Secrets of the server itself: no caller, host or program can name them. */
  readonly #own = new Map<string, Entry>();
  readonly #redactors = new Map<string, Redactor | undefined>();
  /** Secrets replaced or removed since the start, newest first: hosts that received them can still return them. */
  #retired: readonly Retired[] = [];
  #salt: Buffer;
  #keys: VaultKeys;
  #lastVersion: number;
  /** The `mac` of the stored seal, as far as this process knows. */
  #mac: string;
  #purgedAt = Number.NEGATIVE_INFINITY;
  /** The last change. Changes run one after the other, because each seals the result of the previous one. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: VaultOptions, { salt, keys, mac, rows, lastVersion, damaged = [] }: VaultState) {
    this.#options = options;
    this.#salt = salt;
    this.#keys = keys;
    this.#lastVersion = lastVersion;
    this.#mac = mac;
    for (const row of rows)
      this.#entriesWith(row.credentialId).set(row.credentialId, entryOf(row, damaged.includes(row)));
  }

  list(): VaultCredential[] {
    return [...this.#entries.values()].map(({ credential }) => credential).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  find(id: string): VaultCredential | undefined {
    return this.#entries.get(id)?.credential;
  }

  /**
   * Encrypts a text, such as a caller's secret for its own receiver. It stays readable after the key of the vault
   * changes.
   */
  async seal(text: string, bound: string): Promise<string> {
    return sealText(text, bound, await this.#textKey());
  }

  /** The text given to `seal`; `undefined` if it cannot be decrypted or has another purpose. */
  async unseal(sealed: string, bound: string): Promise<string | undefined> {
    // Earlier versions sealed texts with the key of the vault.
    return openText(sealed, bound, await this.#textKey()) ?? openText(sealed, bound, this.#keys.sealing);
  }

  async #textKey(): Promise<Buffer> {
    return Buffer.from(await this.keep('texts', () => randomBytes(32).toString('base64')), 'base64');
  }

  /** Newest first. */
  receipts(id: string, limit: number): Promise<ReceiptRow[]> {
    return this.#options.store.receipts(id, limit);
  }

  /** Makes or replaces a credential. It is on disk when this resolves. */
  put({ id, type, value, hosts, places, description }: NewCredential): Promise<VaultCredential> {
    return this.#change(async () => {
      const entry = await this.#sealed(id, value, { type, hosts, places, description });
      return entry === OUTDATED ? OUTDATED : entry.credential;
    });
  }

  /**
   * A secret of the server itself. The first process that needs it makes it; all processes that share the vault use the
   * same.
   */
  keep(name: string, make: () => string): Promise<string> {
    const id = `${OWN}${name}`;
    return this.#change(async () => {
      const known = this.#own.get(id);
      if (known !== undefined) {
        const value = known.credential.damaged ? undefined : openSecret(known.row, this.#keys);
        if (value === undefined) throw new VaultError(`The vault's copy of ${name} was changed outside of the vault.`);
        return value;
      }
      const value = make();
      const entry = await this.#sealed(id, value, { type: 'own', hosts: [], places: [], description: null });
      return entry === OUTDATED ? OUTDATED : value;
    });
  }

  /** Reads what other processes have changed. Throws a `VaultError` when they use a key that is not here. */
  reload(): Promise<void> {
    return this.#change(() => this.#reload());
  }

  /** False if it does not exist. */
  remove(id: string): Promise<boolean> {
    return this.#change(async () => {
      if (!this.#entries.has(id)) return false;
      const rows = this.#rows().filter(({ credentialId }) => credentialId !== id);
      const seal = this.#sealOver(rows, this.#lastVersion);
      if (!(await this.#options.store.remove(id, seal, this.#mac))) return OUTDATED;
      this.#mac = seal.mac;
      this.#retire(id);
      this.#entries.delete(id);
      return true;
    });
  }

  /** Encrypts all credentials with another key, while the vault is in use. Damaged rows are left unchanged. */
  rotate(given?: string): Promise<Failure | undefined> {
    return this.#change(async () => {
      const { key, store } = this.#options;
      const text = given ?? key.next();
      if (text === undefined) return invalidKey(`is needed, because the key of this vault is in ${key.name}`);
      const fault = keyFault(text);
      if (fault !== undefined) return invalidKey(`is not a valid key: ${fault}`);
      const salt = randomBytes(16);
      const keys = await deriveKeys(text, salt);
      const rows = this.#rows().map((row) => sealSecret(row, openSecret(row, this.#keys) ?? '', keys));
      key.stage(text);
      const seal = sealManifest(manifestOf(rows, this.#lastVersion), salt, keys);
      if (!(await store.put(rows, seal, this.#mac))) return OUTDATED;
      this.#mac = seal.mac;
      key.settle(text);
      this.#salt = salt;
      this.#keys = keys;
      for (const row of rows) this.#entriesWith(row.credentialId).set(row.credentialId, entryOf(row, false));
      return undefined;
    });
  }

  admit(uses: readonly PlacedCredential[], use: SecretUse): void {
    const unbound = uses.find((each) => !this.#isBound(each, use.to));
    if (unbound === undefined) return;
    this.noteRefusal(unbound.id, use);
    throw new Refused(credentialRefused(unbound.id));
  }

  /**
   * Records that a caller without permission tried to use a credential. The record is not awaited, because the duration
   * would tell the caller whether the credential exists.
   */
  noteRefusal(id: string, { caller, to, purpose }: SecretUse): void {
    const version = this.#entries.get(id)?.credential.version;
    if (version === undefined) return;
    const at = this.#options.clock.now().getTime();
    const receipt = { at, caller, credentialId: id, version, host: nameOfHostPort(to), purpose: purpose ?? null };
    this.#record([{ ...receipt, outcome: 'refused' }], at).catch((error) => {
      this.#options.log.error({ error: String(error) }, 'a refused use of a credential could not be recorded');
    });
  }

  async release(uses: readonly PlacedCredential[], use: SecretUse): Promise<ReleasedSecrets> {
    this.admit(uses, use);
    const { caller, to, purpose } = use;
    const entries = [...new Set(uses.map(({ id }) => id))].map((id) => this.#entryOf(id));
    const opened = entries.map(({ row, credential }) => (credential.damaged ? undefined : openSecret(row, this.#keys)));
    const at = this.#options.clock.now().getTime();
    const receipts = entries.map(({ credential: { id, version } }, index): ReceiptRow => {
      const outcome = opened[index] === undefined ? 'damaged' : 'released';
      return { at, caller, credentialId: id, version, host: nameOfHostPort(to), purpose: purpose ?? null, outcome };
    });
    // No secret is released without a record.
    await this.#record(receipts, at).catch((error) => {
      this.#options.log.error(
        { error: String(error) },
        'a credential was not released because its use could not be recorded',
      );
      throw new Refused(failure('store_unavailable', { sent: false }));
    });
    const secrets = new Map<string, { value: string; type: string }>();
    for (const [index, { credential }] of entries.entries()) {
      const value = opened[index];
      if (value === undefined) throw new Refused(credentialRefused(credential.id));
      secrets.set(credential.id, { value, type: credential.type });
    }
    return {
      key: entries.map(({ credential }) => `${credential.id}@${credential.version}`).join(' '),
      fill: ({ id, place }) => {
        const secret = secrets.get(id);
        if (secret === undefined) throw new Error('a secret was requested that was not released');
        return secret.type === 'bearer-token' && place === 'header' ? `Bearer ${secret.value}` : secret.value;
      },
    };
  }

  /**
   * Releases a secret to the environment of a program, named by its place in the configuration, after the use is
   * recorded.
   */
  async releaseToProgram(id: string, program: string): Promise<string> {
    const { row, credential } = this.#entryOf(id);
    const mayUse = credential.places.includes('env');
    const secret = mayUse && !credential.damaged ? openSecret(row, this.#keys) : undefined;
    const at = this.#options.clock.now().getTime();
    const outcome = secret !== undefined ? 'released' : mayUse ? 'damaged' : 'refused';
    const { version } = credential;
    await this.#record([{ at, caller: program, credentialId: id, version, host: 'env', purpose: null, outcome }], at);
    return secret ?? refuseCredential(id);
  }

  /** Searches every secret that the host could have received, because it may return one later. */
  redactorFor(host: HostPort): Redactor | undefined {
    const name = nameOfHostPort(host);
    const redactor = this.#redactors.get(name) ?? this.#newRedactor(name);
    // Hosts without secrets are not remembered, because there may be any number of them.
    if (redactor !== undefined) this.#redactors.set(name, redactor);
    return redactor;
  }

  #newRedactor(host: string): Redactor | undefined {
    const bound = [...this.#entries.values()].flatMap(({ row, credential }) => {
      if (credential.damaged || !credential.hosts.includes(host)) return [];
      return openSecret(row, this.#keys) ?? [];
    });
    const wasBound = this.#retired.flatMap(({ hosts, secret }) => (hosts.includes(host) ? secret : []));
    const secrets = [...new Set([...bound, ...wasBound])];
    // A value of the type `username` may be shorter; such a value occurs in too many texts by chance.
    const findable = secrets.filter((secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES);
    return findable.length === 0 ? undefined : new SecretRedactor(findable);
  }

  /** Remembers the secret of a credential that is replaced or removed. */
  #retire(id: string): void {
    const entry = this.#entries.get(id);
    const secret = entry === undefined || entry.credential.damaged ? undefined : openSecret(entry.row, this.#keys);
    if (entry !== undefined && secret !== undefined) {
      const { hosts } = entry.credential;
      // A secret that is put again and again, as by a deployment script, must not displace the others.
      const others = this.#retired.filter((each) => each.secret !== secret || String(each.hosts) !== String(hosts));
      this.#retired = [{ hosts, secret }, ...others].slice(0, MOST_RETIRED);
    }
    this.#redactors.clear();
  }

  #isBound({ id, place }: PlacedCredential, to: HostPort): boolean {
    const credential = this.#entries.get(id)?.credential;
    // A damaged credential is refused by `release`, which records it as damaged.
    if (credential?.damaged === true) return true;
    return credential?.hosts.includes(nameOfHostPort(to)) === true && credential.places.includes(place);
  }

  #entryOf(id: string): Entry {
    return this.#entries.get(id) ?? refuseCredential(id);
  }

  async #record(receipts: readonly ReceiptRow[], at: number): Promise<void> {
    const { store } = this.#options;
    await store.addReceipts(receipts);
    if (at - this.#purgedAt <= ONE_DAY) return;
    this.#purgedAt = at;
    await store.purgeReceipts(at - KEPT_MS);
  }

  async #reload(): Promise<void> {
    const { store, log, key } = this.#options;
    const { seal, rows } = await sealedRows(store);
    const keys = seal?.keyCheck === this.#keys.check ? this.#keys : seal && (await keysOf(seal, key));
    if (seal === undefined || keys === undefined)
      throw new VaultError(`${CHANGED_KEY} Restart this one with that key.`);
    const { lastVersion, damaged } = judged(seal, rows, keys, log);
    const nonces = new Set(rows.map(({ nonce }) => nonce));
    for (const [id, { row }] of this.#entries) if (!nonces.has(row.nonce)) this.#retire(id);
    this.#keys = keys;
    this.#salt = saltOf(seal);
    this.#entries.clear();
    this.#own.clear();
    for (const row of rows)
      this.#entriesWith(row.credentialId).set(row.credentialId, entryOf(row, damaged.includes(row)));
    this.#redactors.clear();
    this.#lastVersion = lastVersion;
    this.#mac = seal.mac;
  }

  /** Seals and stores a secret. `OUTDATED` when another process has changed the vault; nothing is stored then. */
  async #sealed(id: string, value: string, bound: Bound): Promise<Entry | typeof OUTDATED> {
    const entries = this.#entriesWith(id);
    const now = this.#options.clock.now().getTime();
    const version = this.#lastVersion + 1;
    const open = {
      credentialId: id,
      version,
      type: bound.type,
      hosts: JSON.stringify(bound.hosts),
      places: JSON.stringify(bound.places),
      description: bound.description,
      createdAt: entries.get(id)?.credential.createdAt ?? now,
      updatedAt: now,
    };
    const row = sealSecret(open, value, this.#keys);
    const seal = this.#sealOver([...this.#rows().filter(({ credentialId }) => credentialId !== id), row], version);
    if (!(await this.#options.store.put([row], seal, this.#mac))) return OUTDATED;
    this.#mac = seal.mac;
    this.#lastVersion = version;
    const entry = entryOf(row, false);
    this.#retire(id);
    entries.set(id, entry);
    return entry;
  }

  #entriesWith(id: string): Map<string, Entry> {
    return id.startsWith(OWN) ? this.#own : this.#entries;
  }

  /** All rows that the seal covers: those that are not damaged. */
  #rows(): CredentialRow[] {
    const all = [...this.#entries.values(), ...this.#own.values()];
    return all.flatMap(({ row, credential }) => (credential.damaged ? [] : row));
  }

  #sealOver(rows: readonly CredentialRow[], lastVersion: number) {
    return sealManifest(manifestOf(rows, lastVersion), this.#salt, this.#keys);
  }

  /** If another process has changed the vault in the meantime, the change is repeated on the new state. */
  #change<Result>(change: () => Promise<Result | typeof OUTDATED>): Promise<Result> {
    const result = this.#changing.then(async () => {
      for (;;) {
        const changed = await change();
        if (changed !== OUTDATED) return changed;
        await this.#reload();
      }
    });
    this.#changing = result.catch(() => {});
    return result;
  }
}

/** The seal and the rows that it covers. Both are read again if another process changes them in between. */
async function sealedRows(store: CredentialStore): Promise<{ seal: VaultSeal | undefined; rows: CredentialRow[] }> {
  for (let seal = await store.seal(); ; ) {
    const rows = await store.list();
    const after = await store.seal();
    if (after?.mac === seal?.mac) return { seal, rows };
    seal = after;
  }
}

/** The keys with which the vault was sealed; `undefined` when the source does not have the vault's key. */
async function keysOf(seal: VaultSeal, key: KeySource): Promise<VaultKeys | undefined> {
  for (const text of key.candidates()) {
    const keys = await deriveKeys(text, saltOf(seal));
    if (keys.check !== seal.keyCheck) continue;
    key.settle(text);
    return keys;
  }
  return undefined;
}

function saltOf(seal: VaultSeal): Buffer {
  return Buffer.from(seal.salt, 'base64');
}

/** Finds, and logs, the rows that do not fit the seal. */
function judged(seal: VaultSeal, rows: readonly CredentialRow[], keys: VaultKeys, log: Log) {
  const manifest = openManifest(seal, keys);
  const lastVersion = Math.max(manifest?.lastVersion ?? 0, ...rows.map(({ version }) => version));
  const damaged = rows.filter(
    (row) => manifest === undefined || !fits(row, manifest) || openSecret(row, keys) === undefined,
  );
  for (const { credentialId } of damaged) {
    log.error({ credential: credentialId }, 'a credential was changed outside of the vault; it is not used any more');
  }
  return { lastVersion, damaged };
}

interface VaultState {
  readonly salt: Buffer;
  readonly keys: VaultKeys;
  readonly mac: string;
  readonly rows: readonly CredentialRow[];
  readonly lastVersion: number;
  readonly damaged?: readonly CredentialRow[];
}

interface Entry {
  readonly row: CredentialRow;
  readonly credential: VaultCredential;
}

/** The data that a secret is bound to. */
type Bound = Pick<VaultCredential, 'type' | 'hosts' | 'places' | 'description'>;

interface Retired {
  readonly hosts: readonly string[];
  readonly secret: string;
}

function entryOf(row: CredentialRow, damaged: boolean): Entry {
  const { credentialId: id, type, description, version, createdAt, updatedAt } = row;
  // Another program may have written anything into a damaged row.
  const list = (text: string): string[] => (damaged ? [] : (JSON.parse(text) as string[]));
  const [hosts, places] = [list(row.hosts), list(row.places) as SecretPlace[]];
  return { row, credential: { id, type, hosts, places, description, version, createdAt, updatedAt, damaged } };
}

function refuseCredential(id: string): never {
  throw new Refused(credentialRefused(id));
}

function invalidKey(what: string): Failure {
  const message = `key ${what}`;
  return failure('invalid_message', { issues: [{ pointer: '/key', code: 'vault_key', message }] }, `${message}.`);
}

const CHANGED_KEY = 'Another process has changed the key of the vault.';
/** The result of a change when another process has changed the vault. */
const OUTDATED = Symbol('outdated');
/** The prefix of the server's own secrets. No id of a credential has a colon. */
const OWN = 'server:';
const ONE_DAY = 86_400_000;
/** Limited, because every retired secret is searched for in each response of its hosts. */
const MOST_RETIRED = 64;
const KEPT_MS = 90 * ONE_DAY;

import { hash, randomBytes } from 'node:crypto';
import type { Clock, Ids } from '../ports/ports.ts';
import { OwnWrites } from '../store/own-writes.ts';
import type { KeyRow, KeyStore } from '../store/store.ts';

/** A new key, with its secret, which is shown once. */
export interface IssuedKey {
  readonly row: KeyRow;
  /** The text that the caller sends. Only its hash is stored. */
  readonly secret: string;
}

/**
 * API keys. They have 256 random bits, so one SHA-256 protects them: no dictionary attack is possible. Looking up a key by its hash
 * takes the same time whether or not it exists; only keys in use are found faster.
 */
export class Keys {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #byHash = new Map<string, KeyRow>();
  /** Keys in use, in memory only, so that they are not hashed for every request. */
  readonly #inUse = new Map<string, KeyRow>();
  readonly #writes = new OwnWrites();
  readonly #listeners: ((keyId: string) => void)[] = [];

  constructor({ store, clock, ids }: { store: KeyStore; clock: Clock; ids: Ids }) {
    this.#store = store;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Reads the recorded keys, and again after another process has changed them. Returns false when some must be read once more. */
  load(): Promise<boolean> {
    return this.#writes.reading(
      () => this.#store.list(),
      (rows, isOwn) => {
        const valid = new Map(rows.flatMap((row) => (row.revokedAt === null ? [[row.keyId, row]] : [])));
        const known = [...this.#byHash.values()].map(({ keyId }) => keyId);
        for (const keyId of known) if (!valid.delete(keyId) && !isOwn(keyId)) this.#end(keyId);
        for (const row of valid.values()) if (!isOwn(row.keyId)) this.#admit(row);
      },
    );
  }

  async create({
    agentId,
    role,
    description = null,
    expiresInMs,
    secret = newSecret(),
  }: KeyRequest): Promise<IssuedKey> {
    const createdAt = this.#clock.now().getTime();
    const row: KeyRow = {
      keyId: `key-${this.#ids.hex().slice(0, 12)}`,
      hash: hashOf(secret),
      agentId,
      role,
      description,
      createdAt,
      expiresAt: expiresInMs === undefined ? null : createdAt + expiresInMs,
      revokedAt: null,
    };
    await this.#writes.of(row.keyId, async () => {
      await this.#store.put(row);
      this.#admit(row);
    });
    return { row, secret };
  }

  find(secret: string): KeyRow | undefined {
    // Earlier versions accepted short keys from the environment. They could be guessed, so they are invalid.
    if (secret.length < SHORTEST_KEY) return undefined;
    const known = this.#inUse.get(secret);
    if (known !== undefined) return this.#isOver(known) ? undefined : known;
    const row = this.#byHash.get(hashOf(secret));
    if (row === undefined || this.#isOver(row)) return undefined;
    if (this.#inUse.size === MOST_IN_USE) this.#inUse.clear();
    this.#inUse.set(secret, row);
    return row;
  }

  /** The record of a key, even if it is revoked. */
  async recorded(secret: string): Promise<KeyRow | undefined> {
    const hash = hashOf(secret);
    return (await this.#store.list()).find((row) => row.hash === hash);
  }

  list(): Promise<KeyRow[]> {
    return this.#store.list();
  }

  /** Revokes the key at once, and ends everything that was opened with it. */
  async revoke(keyId: string): Promise<boolean> {
    return this.#writes.of(keyId, () => {
      this.#end(keyId);
      return this.#store.revoke(keyId, this.#clock.now().getTime());
    });
  }

  /** Calls the listener for every key that is revoked or expires, so that connections of the key can be closed. */
  onRevoked(listener: (keyId: string) => void): void {
    this.#listeners.push(listener);
  }

  #admit(row: KeyRow): void {
    if (this.#isOver(row)) return;
    this.#byHash.set(row.hash, row);
    if (row.expiresAt === null) return;
    // Everything opened with the key ends when it expires.
    this.#clock.after(row.expiresAt - this.#clock.now().getTime(), () => this.#end(row.keyId));
  }

  #isOver({ expiresAt }: KeyRow): boolean {
    return expiresAt !== null && this.#clock.now().getTime() >= expiresAt;
  }

  #end(keyId: string): void {
    const known = [...this.#byHash.values()].find((row) => row.keyId === keyId);
    if (known !== undefined) this.#byHash.delete(known.hash);
    this.#inUse.clear();
    for (const listener of this.#listeners) listener(keyId);
  }
}

interface KeyRequest {
  readonly agentId: string;
  readonly role: KeyRow['role'];
  readonly description?: string | null;
  /** Default: it does not expire. */
  readonly expiresInMs?: number | undefined;
  /** A key that the operator supplies, such as the admin key from the environment. */
  readonly secret?: string;
}

function newSecret(): string {
  return `dgm_${randomBytes(32).toString('base64url')}`;
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Characters: 96 random bits as hexadecimal digits. */
export const SHORTEST_KEY = 24;

/** The cache of keys in use is cleared when it has this many. */
const MOST_IN_USE = 1000;

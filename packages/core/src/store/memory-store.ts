import { Ballast } from './ballast.ts';
import { Committer } from './sqlite-committer.ts';
import { openInMemory } from './sqlite-database.ts';
import { loadEngine, type SqliteEngine } from './sqlite-engine.ts';
import { errorOf } from './sqlite-messages.ts';
import { SqliteStore, type StoreOwner } from './sqlite-store.ts';
import { StoreError } from './store-error.ts';

/**
 * Opens an SQLite store in memory, which is lost when the process ends: for embedding without durability, and for
 * tests.
 */
export async function openMemoryStore(): Promise<SqliteStore> {
  return memoryStoreOn(await loadEngine());
}

/** There is no disk to wait for, so no thread is needed: each call runs at once. */
export function memoryStoreOn(engine: SqliteEngine, database = openInMemory(engine)): SqliteStore {
  const committer = new Committer({
    database,
    ballast: new Ballast({ path: '', bytes: 0 }),
    logPath: '',
    onRoom: () => {},
    elapsed: () => performance.now(),
  });
  let isOpen = true;
  const owner: StoreOwner = {
    epoch: committer.epoch,
    async ask(name, ...values) {
      if (!isOpen) throw new StoreError('store_unavailable', 'The store is closed.');
      // No file keeps deleted data.
      if (name === 'scrub') return undefined;
      const call = { id: 0, name, values };
      const [answer] = committer.isRead(call) ? [committer.read(call)] : committer.commit([call]);
      if (answer === undefined) throw new Error(`the store did not answer ${name}`);
      if ('error' in answer) throw errorOf(answer.error);
      // biome-ignore lint/suspicious/noExplicitAny: the type of the answer is that of the question
      return answer.value as any;
    },
    stats: async () => ({ driver: engine.name, ...committer.counts }),
    async [Symbol.asyncDispose]() {
      if (isOpen) committer.close();
      isOpen = false;
    },
  };
  return new SqliteStore(owner);
}

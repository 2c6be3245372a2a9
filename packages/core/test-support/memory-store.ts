import { memoryStoreOn } from '../src/store/memory-store.ts';
import { openInMemory } from '../src/store/sqlite-database.ts';
import { type Database, loadEngine } from '../src/store/sqlite-engine.ts';
import type { SqliteStore } from '../src/store/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';

const engine = await loadEngine();
const databases = new WeakMap<Store, Database>();

/** A fresh store in memory, ready at once: a test needs no `await` to set it up. */
export function memoryStore(database = openInMemory(engine)): SqliteStore {
  const store = memoryStoreOn(engine, database);
  databases.set(store, database);
  return store;
}

/** The same data as the next process opens it: what the earlier one left open can be claimed. */
export function nextProcess(earlier: Store): SqliteStore {
  return memoryStore(databases.get(earlier));
}

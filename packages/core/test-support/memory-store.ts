import { memoryStoreOn } from '../src/store/memory-store.ts';
import { loadEngine } from '../src/store/sqlite-engine.ts';
import type { SqliteStore } from '../src/store/sqlite-store.ts';

const engine = await loadEngine();

/** A fresh store in memory, ready at once: a test needs no `await` to set it up. */
export function memoryStore(): SqliteStore {
  return memoryStoreOn(engine);
}

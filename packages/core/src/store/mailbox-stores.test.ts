import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { MemoryStore } from './memory-store.ts';
import { describeOutbox } from './outbox.contract.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { describeThreads } from './threads.contract.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-mailbox-'));
let folders = 0;
afterAll(() => rmSync(root, { recursive: true, force: true }));

const STORES = {
  'the store in memory': async () => new MemoryStore(),
  'the store in SQLite': () =>
    openSqliteStore({
      folder: join(root, String(folders++)),
      ballastBytes: 0,
      onFatal: (error) => {
        throw error;
      },
    }),
};

for (const [name, open] of Object.entries(STORES)) {
  describeOutbox(name, open);
  describeThreads(name, open);
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { MemoryStore } from './memory-store.ts';
import { describeNonces } from './nonces.contract.ts';
import { describeRegistrations } from './registrations.contract.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-messages-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  'the store in memory': async () => new MemoryStore(),
  'the store in SQLite': () =>
    openSqliteStore({
      folder: join(root, String(++folders)),
      ballastBytes: 0,
      onFatal: (error) => {
        throw error;
      },
    }),
};

for (const [name, open] of Object.entries(STORES)) {
  describeRegistrations(name, open);
  describeNonces(name, open);
}

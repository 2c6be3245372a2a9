import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

test("the store's thread loads no protocol: it would hold a second copy of everything", () => {
  const loaded = new Set<string>();
  const packages = new Set<string>();
  const follow = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const [, clause = '', name = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
      if (clause.startsWith('type ')) continue;
      if (name.startsWith('.')) follow(join(dirname(path), name));
      else packages.add(name);
    }
  };
  follow(join(import.meta.dirname, 'sqlite-thread.ts'));
  expect(loaded.size).toBeGreaterThan(10);
  expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual([]);
});

const IMPORT = /^import ([^;]*?) from '([^']+)';/gms;

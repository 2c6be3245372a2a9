import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = ['protocols', 'core', 'server', 'client', 'cli'];

test('an exported name has one meaning in all packages', () => {
  const files = new Map<string, string[]>();
  for (const file of PACKAGES.flatMap(sourceFiles)) {
    for (const name of exportsOf(file)) files.set(name, [...(files.get(name) ?? []), file]);
  }
  expect([...files].filter(([, places]) => places.length > 1)).toEqual([]);
});

function sourceFiles(name: string): string[] {
  const folder = `packages/${name}/src`;
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) => file.endsWith('.ts') && !/\.(?:test|contract|d)\.ts$/.test(file) && !file.startsWith('generated/'),
    )
    .map((file) => `${folder}/${file}`);
}

/** What a file declares and exports: a constant and its type may share a name, and `index.ts` only lists. */
function exportsOf(file: string): Set<string> {
  const declared = readFileSync(join(root, file), 'utf8').matchAll(
    /^export (?:abstract )?(?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm,
  );
  return new Set([...declared].map(([, name = '']) => name));
}

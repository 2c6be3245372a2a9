import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

test('every requirement of Linux Foundation A2A names tests that exist', () => {
  const page = readFileSync(join(root, 'docs/protocols/lf-a2a.md'), 'utf8');
  const [, table = ''] = page.split('## Conformance with 1.0\n');
  const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| requirement'));
  expect(rows.length).toBeGreaterThan(30);
  const faults = rows.flatMap((row) => {
    const tests = [...row.matchAll(/`([\w./-]+\.test\.ts)` "([^"]+)"/g)];
    if (tests.length === 0) return [`no test: ${row}`];
    return tests.flatMap(([, file = '', name = '']) => (hasTest(file, name) ? [] : [`${file} has no test "${name}"`]));
  });
  expect(faults).toEqual([]);
});

function hasTest(file: string, name: string): boolean {
  const path = join(root, file.includes('/') ? file : `test/system/${file}`);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  return text.includes(`'${name}'`) || text.includes(`"${name}"`);
}

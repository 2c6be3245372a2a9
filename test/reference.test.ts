import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { referencePages } from '../scripts/reference-pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('the reference pages are up to date (else: npm run generate:reference)', async () => {
  const pages = await referencePages();
  const written = readdirSync(join(root, 'docs/reference'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/reference/${file}`);
  expect(written.sort()).toEqual([...pages.keys()].sort());
  for (const [path, text] of pages) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
});

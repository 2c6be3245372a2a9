// Writes the reference pages of the documentation from the shapes, routes and commands themselves.
//
//   npm run generate:reference
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referencePages } from './reference-pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const pages = await referencePages();
rmSync(`${root}docs/reference`, { recursive: true, force: true });
for (const [path, text] of pages) {
  mkdirSync(dirname(root + path), { recursive: true });
  writeFileSync(root + path, text);
}

// Writes the published draft-07 JSON Schema files from the shapes declared in TypeScript.
//
//   npm run generate:schemas
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { schemaFiles } from './schema-files.ts';

const target = fileURLToPath(new URL('../packages/protocols/schemas/', import.meta.url));

rmSync(target, { recursive: true, force: true });
for (const [path, text] of await schemaFiles()) {
  mkdirSync(dirname(target + path), { recursive: true });
  writeFileSync(target + path, text);
}

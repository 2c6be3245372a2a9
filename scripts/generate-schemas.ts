// Writes the published draft-07 JSON Schema files from the shapes declared in TypeScript, and the package of the A2A ones.
//
//   npm run generate:schemas
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { schemaFiles } from './schema-files.ts';
import { schemaPackageFiles } from './schema-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const name of readdirSync(`${root}packages`)) {
  rmSync(`${root}packages/${name}/schemas`, { recursive: true, force: true });
}
for (const [path, text] of [...(await schemaFiles()), ...(await schemaPackageFiles())]) {
  mkdirSync(dirname(root + path), { recursive: true });
  writeFileSync(root + path, text);
}

import { existsSync, readdirSync } from 'node:fs';
import type { SchemaSet } from '../packages/protocols/src/schema.ts';

/** A set of declared shapes and the package that declares them. */
export interface LoadedSchemaSet extends SchemaSet {
  readonly package: string;
}

const packages = new URL('../packages/', import.meta.url);

/** Every declared shape: whatever source folder has a `schemas.ts`. A new protocol needs no line here. */
export async function loadSchemaSets(only: readonly string[] = []): Promise<LoadedSchemaSet[]> {
  const sets: LoadedSchemaSet[] = [];
  for (const name of readdirSync(packages)) {
    const source = new URL(`${name}/src/`, packages);
    if (!existsSync(source)) continue;
    const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const folder of ['.', ...folders.map((entry) => entry.name)]) {
      if (only.length > 0 && !only.includes(folder)) continue;
      const file = new URL(`${folder}/schemas.ts`, source);
      if (!existsSync(file)) continue;
      const module = (await import(file.href)) as { default: SchemaSet };
      sets.push({ ...module.default, package: name });
    }
  }
  return sets;
}

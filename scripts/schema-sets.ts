import { existsSync, readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { SchemaSet } from '../packages/protocols/src/schema.ts';
import { PACKAGES, packagesInOrderOfUse } from './packages.ts';

/** A set of declared shapes and the package that declares them. */
export interface LoadedSchemaSet extends SchemaSet {
  readonly package: string;
}

/**
 * Every declared shape: whatever source folder has a `schemas.ts`. A new protocol needs no line here. One by one, because
 * the shapes of a package can be loaded only when the validators of those it uses are there.
 */
export async function* schemaSets(only: readonly string[] = []): AsyncGenerator<LoadedSchemaSet> {
  for (const name of packagesInOrderOfUse()) {
    const source = `${PACKAGES}${name}/src/`;
    if (!existsSync(source)) continue;
    const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const folder of ['.', ...folders.map((entry) => entry.name)]) {
      if (only.length > 0 && !only.includes(folder)) continue;
      const file = `${source}${folder}/schemas.ts`;
      if (!existsSync(file)) continue;
      const module = (await import(pathToFileURL(file).href)) as { default: SchemaSet };
      yield { ...module.default, package: name };
    }
  }
}

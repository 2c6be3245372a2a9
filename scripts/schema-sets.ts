import { existsSync, readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { SchemaSet } from '../packages/protocols/src/schema.ts';
import { PACKAGES, packagesInOrderOfUse } from './packages.ts';

/** A set of declared shapes and the package that declares them. */
export interface LoadedSchemaSet extends SchemaSet {
  readonly package: string;
}

/** The module that declares a set of shapes. */
export interface SchemaSource {
  readonly package: string;
  readonly file: string;
}

/**
 * Every declared shape. One by one, because the shapes of a package can be loaded only when the validators of those it uses
 * are there.
 */
export async function* schemaSets(): AsyncGenerator<LoadedSchemaSet> {
  for (const source of schemaSources()) yield { ...(await load(source)), package: source.package };
}

/** Where shapes are declared: whatever source folder has a `schemas.ts`. A new protocol needs no line here. */
export function schemaSources(only: readonly string[] = []): SchemaSource[] {
  return packagesInOrderOfUse().flatMap((name) => {
    const source = `${PACKAGES}${name}/src/`;
    if (!existsSync(source)) return [];
    const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return ['.', ...folders.map((entry) => entry.name)]
      .filter((folder) => only.length === 0 || only.includes(folder))
      .map((folder) => ({ package: name, file: `${source}${folder}/schemas.ts` }))
      .filter(({ file }) => existsSync(file));
  });
}

export async function load({ file }: SchemaSource): Promise<SchemaSet> {
  const module = (await import(pathToFileURL(file).href)) as { default: SchemaSet };
  return module.default;
}

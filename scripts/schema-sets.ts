import { existsSync, readdirSync } from 'node:fs';
import type { SchemaSet } from '../packages/protocols/src/schema.ts';

const source = new URL('../packages/protocols/src/', import.meta.url);

/** Every dialect's declared shapes: whatever folder has a `schemas.ts`. A new protocol needs no line here. */
export async function loadSchemaSets(only: readonly string[] = []): Promise<SchemaSet[]> {
  const sets: SchemaSet[] = [];
  for (const folder of readdirSync(source, { withFileTypes: true })) {
    if (only.length > 0 && !only.includes(folder.name)) continue;
    const file = new URL(`${folder.name}/schemas.ts`, source);
    if (!existsSync(file)) continue;
    const module = (await import(file.href)) as { default: SchemaSet };
    sets.push(module.default);
  }
  return sets;
}

import { SCHEMA_BASE } from '../packages/protocols/src/schema.ts';
import { schemaSets } from './schema-sets.ts';

/** The published files by path from the root, `packages/<package>/schemas/<set>/<file>.json` → text. */
export async function schemaFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const set of schemaSets()) {
    for (const schema of Object.values(set.schemas)) {
      const path = String(schema['$id']).slice(SCHEMA_BASE.length + 1);
      if (!path.startsWith(`${set.dialect}/`)) throw new Error(`${path} is not below ${set.dialect}/`);
      const published = { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
      files.set(`packages/${set.package}/schemas/${path}`, `${JSON.stringify(published, null, 2)}\n`);
    }
  }
  return files;
}

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The text of a published JSON Schema, such as `e2a/envelope.json`; `undefined` for an unknown name. */
export function publishedSchema(name: string): string | undefined {
  try {
    return readFileSync(fileURLToPath(import.meta.resolve(`@dragoman/protocols/schemas/${name}`)), 'utf8');
  } catch {
    return undefined;
  }
}

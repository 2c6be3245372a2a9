import { PROTOCOL_VERSIONS, SCHEMA_VERSION, SCHEMA_VERSIONS } from '../packages/protocols/src/a2a-messages/versions.ts';
import { pydanticModels } from './pydantic-models.ts';
import { schemaFiles } from './schema-files.ts';

/** What is written of the package of the A2A message schemas, by path from the root. The rest of it is written by hand. */
export async function schemaPackageFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const names: string[] = [];
  for (const [path, text] of await schemaFiles()) {
    if (!path.startsWith(SOURCE)) continue;
    const name = path.slice(SOURCE.length);
    names.push(name);
    files.set(`${SCHEMA_PACKAGE}${name}`, text);
    files.set(`${PYTHON}schemas/${name}`, text);
  }
  const manifest = `${JSON.stringify(manifestOf(names), null, 2)}\n`;
  files.set(`${SCHEMA_PACKAGE}manifest.json`, manifest);
  files.set(`${PYTHON}schemas/manifest.json`, manifest);
  files.set(`${PYTHON}models.py`, pydanticModels());
  return files;
}

/** Keywords that only the spec's header example uses; strict validators refuse them inside a schema. */
function manifestOf(names: readonly string[]) {
  return {
    version: SCHEMA_VERSION,
    deprecated: false,
    changelog: 'CHANGELOG.md',
    schema_versions: SCHEMA_VERSIONS,
    supported_protocols: PROTOCOL_VERSIONS,
    files: [...names].sort(),
  };
}

export const SCHEMA_PACKAGE = 'packages/a2a-messages-schemas/';
const PYTHON = `${SCHEMA_PACKAGE}python/a2a_messages_schemas/`;
const SOURCE = 'packages/protocols/schemas/a2a-messages/';

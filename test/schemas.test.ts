import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { formats } from '../packages/protocols/src/formats.ts';
import { schemaFiles } from '../scripts/schema-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const expected = await schemaFiles();

test('the published schema files are the declared shapes (else: npm run generate:schemas)', () => {
  const published = readdirSync(join(root, 'packages')).flatMap((name) => filesBelow(`packages/${name}/schemas`));
  expect(published.sort()).toEqual([...expected.keys()].sort());
  for (const [path, text] of expected) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
});

test('every published file is a draft-07 schema that stands with its neighbours', () => {
  const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, formats: { ...formats } });
  const schemas = [...expected.values()].map((text) => JSON.parse(text));
  for (const schema of schemas) {
    expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#');
    ajv.addSchema(schema);
  }
  for (const schema of schemas) expect(ajv.getSchema(schema.$id), schema.$id).toBeTypeOf('function');
});

test('a file is named like the last part of its $id', () => {
  for (const [path, text] of expected) {
    expect(JSON.parse(text).$id).toBe(`https://dragoman.example/schemas/${path.replace(/^.*?\/schemas\//, '')}`);
  }
});

function filesBelow(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .map((file) => `${folder}/${file}`);
}

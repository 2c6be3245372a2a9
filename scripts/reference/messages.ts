import { type JsonSchema, SCHEMA_BASE } from '../../packages/protocols/src/schema.ts';
import { schemaSets } from '../schema-sets.ts';
import { type Resolve, schemaTable } from './schema-table.ts';

/** A page for each protocol: every shape it publishes. */
export async function messagePages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for await (const set of schemaSets()) {
    if (set.package !== 'protocols' || !Object.hasOwn(TITLES, set.dialect)) continue;
    const schemas = Object.values(set.schemas);
    const byId = new Map(schemas.map((schema) => [String(schema['$id']), schema]));
    const resolve: Resolve = (ref) => byId.get(new URL(ref, `${SCHEMA_BASE}/${set.dialect}/`).href);
    const sections = schemas.map((schema) => section(schema, set.dialect, resolve));
    pages.set(`messages/${set.dialect}.md`, [heading(set.dialect), ...sections].join('\n'));
  }
  return pages;
}

function heading(dialect: string): string {
  return [
    `# Messages: ${TITLES[dialect]}`,
    '',
    `Every shape of the protocol, as it is checked. \`*\` marks what is required. The same as JSON Schema: \`packages/protocols/schemas/${dialect}\`,`,
    `and \`GET /schemas/${dialect}/<file>.json\` of a running server. What the fields mean, and every choice we took: [the protocol](../../protocols/${dialect}.md).`,
    '',
  ].join('\n');
}

function section(schema: JsonSchema, dialect: string, resolve: Resolve): string {
  const file = String(schema['$id']).split('/').at(-1);
  const title = String(schema['title'] ?? file).replace(/^A2E wire: /, '');
  const description = schema['description'] === undefined ? [] : [String(schema['description']), ''];
  const table = schemaTable(schema, resolve);
  return [
    `## ${title}`,
    '',
    ...description,
    `[\`${file}\`](../../../packages/protocols/schemas/${dialect}/${file})`,
    '',
    ...(table === '' ? [] : [table]),
  ].join('\n');
}

const TITLES: Readonly<Record<string, string>> = {
  e2a: 'E2A',
  'a2a-messages': 'A2A messages',
  'a2a-mailbox': 'A2A mailbox',
  'a2e-wire': 'A2E wire',
  'a2e-workflow': 'A2E workflows',
};

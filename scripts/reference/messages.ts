import { type JsonSchema, SCHEMA_BASE } from '../../packages/protocols/src/schema.ts';
import { schemaSets } from '../schema-sets.ts';
import { type Resolve, SchemaTables } from './schema-table.ts';

/** A page for each protocol: every shape it publishes. */
export async function messagePages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for await (const set of schemaSets()) {
    if (set.package !== 'protocols' || !Object.hasOwn(TITLES, set.dialect)) continue;
    const schemas = Object.values(set.schemas);
    const byId = new Map(schemas.map((schema) => [String(schema['$id']), schema]));
    const resolve: Resolve = (ref) => byId.get(new URL(ref, `${SCHEMA_BASE}/${set.dialect}/`).href);
    const base = byId.get(`${SCHEMA_BASE}/${set.dialect}/base-message.json`);
    const tables = new SchemaTables(resolve, base);
    const sections = schemas.map((schema) => section(schema, set.dialect, tables, schema === base));
    pages.set(`messages/${set.dialect}.md`, [heading(set.dialect, base !== undefined), ...sections].join('\n'));
  }
  return pages;
}

function heading(dialect: string, hasBase: boolean): string {
  return [
    `# Messages: ${TITLES[dialect]}`,
    '',
    `Every shape of [the protocol](../../protocols/${dialect}.md): member, type, default in parentheses, meaning. \`*\` marks required members; the limits of strings count characters, those of lists items.${hasBase ? ' The members of every message are listed once, under the first title.' : ''}`,
    `Titles link to the JSON Schemas; a running server serves them at \`GET /schemas/${dialect}/<file>.json\`.`,
    '',
  ].join('\n');
}

function section(schema: JsonSchema, dialect: string, tables: SchemaTables, isBase: boolean): string {
  const file = String(schema['$id']).split('/').at(-1);
  const title = String(schema['title'] ?? file).replace(/^A2E (?:wire: |workflow )/, '');
  const description = schema['description'] === undefined ? [] : [String(schema['description']), ''];
  const table = tables.table(schema, title, isBase);
  return [
    `## [${title}](../../../packages/protocols/schemas/${dialect}/${file})`,
    '',
    ...description,
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

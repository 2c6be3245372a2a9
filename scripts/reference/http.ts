import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SilentLog } from '../../packages/core/test-support/silent-log.ts';
import type { JsonSchema } from '../../packages/protocols/src/schema.ts';
import { ConfigShape } from '../../packages/server/src/config/config-schema.ts';
import { startServer, systemClock, systemIds } from '../../packages/server/src/index.ts';
import { SchemaTables } from './schema-table.ts';

/** Every HTTP route of the OpenAPI document of a running server. */
export async function httpPage(): Promise<string> {
  const { paths, components } = await openApi();
  const groups = new Map<string, Row[]>();
  const bodies: string[] = [];
  const schemas = new SchemaTables(() => undefined);
  for (const key of ['agents', 'apis']) {
    schemas.refer(entryOf(key), `\`${key}.<name>\` of the [configuration](config.md)`);
  }
  const tablesShown = new Map<string, string>();
  const published: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const media = operation.requestBody?.content['application/json']?.schema;
      const reference = media?.['$ref'];
      const body = typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
      if (isTwin(path, method, paths)) continue;
      const agents = isTwin(path.replace(ONE_AGENT, `$1${AGENT}`), method, paths) ? `[${AGENT}]` : '';
      const older = isTwin(path.replace('/lf-a2a', `/lf-a2a${OLDER}`), method, paths) ? `[${OLDER}]` : '';
      const row: Row = {
        route: name.replace(ONE_AGENT, `$1${agents}${older}`),
        key: keyFor(operation.security),
        summary: operation.summary,
      };
      const group = groupOf(path);
      groups.set(group, [...(groups.get(group) ?? []), row]);
      const schema = body === undefined ? media : components.schemas[body];
      if (schema === undefined || Object.keys(schema).length === 0) continue;
      const most = operation.requestBody?.description.replace(/^At most (\d+) bytes\.$/, '≤ $1 bytes');
      if (isPublished(body)) {
        published.push(`\`${name}\`: [${body?.split('.')[0]}](messages/${body?.split('.')[0]}.md), ${most}`);
        continue;
      }
      const shown = tablesShown.get(JSON.stringify(schema));
      const table = shown === undefined ? schemas.table(schema, `\`${name}\``) : `As \`${shown}\`.\n`;
      if (table === '') continue;
      tablesShown.set(JSON.stringify(schema), shown ?? name);
      bodies.push(`### \`${name}\`\n\n${most}\n\n${table}`);
    }
  }
  const tables = [...groups].map(([group, rows]) => tableOf(group, rows));
  const messages = `Messages of a protocol: ${published.join('; ')}.\n`;
  return [HEADING, ...tables, '## Bodies\n', BODIES, messages, ...bodies].join('\n');
}

interface Row {
  readonly route: string;
  readonly key: string;
  readonly summary: string;
}

/** Where every route of a group takes the same key, the heading names it. */
function tableOf(group: string, rows: readonly Row[]): string {
  const [first] = rows;
  if (rows.every(({ key }) => key === first?.key)) {
    const lines = rows.map(({ route, summary }) => `| \`${route}\` | ${summary} |`);
    return `## ${group}\n\nKey: ${first?.key}.\n\n| route | |\n|---|---|\n${lines.join('\n')}\n`;
  }
  const lines = rows.map(({ route, key, summary }) => `| \`${route}\` | ${key} | ${summary} |`);
  return `## ${group}\n\n| route | key | |\n|---|---|---|\n${lines.join('\n')}\n`;
}

/** The shape of one entry of a map in the configuration. */
function entryOf(key: string): JsonSchema {
  const { properties } = ConfigShape as unknown as { properties: Record<string, { additionalProperties: JsonSchema }> };
  return properties[key]?.additionalProperties ?? {};
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

interface Operation {
  readonly summary: string;
  readonly security: readonly object[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Readonly<Record<string, { readonly schema?: JsonSchema } | undefined>>;
  };
}

/** From a real server, so that the page lists exactly the routes there are. */
async function openApi(): Promise<OpenApi> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-reference-'));
  const server = await startServer({
    config: { port: 0, store: 'memory' },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: new SilentLog(),
  });
  try {
    const answer = await fetch(`${server.url}/openapi.json`);
    return (await answer.json()) as OpenApi;
  } finally {
    await server.stop({ drainMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  }
}

function keyFor(security: readonly object[]): string {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.includes('adminBearer')) return 'admin';
  if (security.some((one) => Object.keys(one).length === 0)) return 'optional';
  return schemes.includes('agentBearer') ? 'agent' : 'none';
}

/** Whether the page has this route already: without the agent, or as the same route of the current version of A2A. */
function isTwin(path: string, method: string, paths: OpenApi['paths']): boolean {
  const own = paths[path]?.[method];
  if (own === undefined) return false;
  if (ONE_AGENT.test(path) && path.includes(AGENT) && Object.hasOwn(paths, path.replace(AGENT, ''))) return true;
  return path.includes(OLDER) && paths[path.replace(OLDER, '')]?.[method]?.summary === own.summary;
}

function groupOf(path: string): string {
  return GROUPS.find(([pattern]) => pattern.test(path))?.[1] ?? 'Operation';
}

function isPublished(name: string | undefined): boolean {
  return name !== undefined && /^(?:e2a|a2[ae]-\w+)\./.test(name);
}

const AGENT = '/agents/{agent_id}';
const OLDER = '/v1';
const ONE_AGENT = /(\/(?:lf-a2a|mcp|acp))(?=\/|$)/;

const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^\/e2a\b/, 'E2A'],
  [/^\/a2a\/messages(?:\/ws)?$|^\/agents\b|^\/stats$|^\/schemas\b/, 'A2A messages'],
  [/^\/lf-a2a\b|^\/\.well-known\/a(?:i-catalog|gent-card)/, 'Linux Foundation A2A'],
  [/^\/acp\b/, 'ACP'],
  [/^\/mcp\b/, 'MCP'],
  [/^\/v1\b/, 'OpenAI'],
  [/^\/a2a\b|^\/agent$|^\/\.well-known\//, 'A2A mailbox'],
  [/^\/a2e\b/, 'A2E wire'],
  [/^\/api\/v1\b/, 'A2E workflows and discovery'],
  [/^\/admin\b/, 'Administration'],
];

const BODIES = '`*` marks required members; a bound of a string counts characters, of a list items.\n';

const HEADING = `# HTTP

One port. Send a key as \`Authorization: Bearer KEY\` or \`X-API-Key\`. For programs: \`GET /openapi.json\`. \`[/agents/{agent_id}]\` may be left out
for the default agent; \`[/v1]\` is A2A 0.3.

| key | |
|---|---|
| none | no key is read |
| optional | works without a key; an invalid key is refused |
| agent | an agent's key |
| admin | an admin key |

Errors are RFC 9457 \`application/problem+json\` with \`code\`, \`issues[]\`, \`suggestions[]\` and \`retry_after\`, except where a protocol defines its own shape. 429 and 503
carry \`Retry-After\`.

WebSockets, on the same port: \`/e2a/ws\`, \`/e2a/agent/ws\` (agents that dial in), \`/a2a/messages/ws\`, \`/a2e/ws\`, \`/acp\`.
`;

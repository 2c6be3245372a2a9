import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SilentLog } from '../../packages/core/test-support/silent-log.ts';
import type { JsonSchema } from '../../packages/protocols/src/schema.ts';
import { startServer, systemClock, systemIds } from '../../packages/server/src/index.ts';
import { SchemaTables } from './schema-table.ts';

/** Every HTTP route of the OpenAPI document of a running server. */
export async function httpPage(): Promise<string> {
  const { paths, components } = await openApi();
  const groups = new Map<string, string[]>();
  const bodies: string[] = [];
  const schemas = new SchemaTables(() => undefined);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const media = operation.requestBody?.content['application/json']?.schema;
      const reference = media?.['$ref'];
      const body = typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
      const group = groupOf(path);
      if (isTwin(path, paths)) continue;
      const both = name.replace(
        ONE_AGENT,
        isTwin(path.replace(ONE_AGENT, `$1${AGENT}`), paths) ? `$1[${AGENT}]` : '$1',
      );
      const row = `| \`${both}\` | ${keyFor(operation.security)} | ${operation.summary} |`;
      groups.set(group, [...(groups.get(group) ?? []), row]);
      const schema = body === undefined ? media : components.schemas[body];
      if (schema === undefined || Object.keys(schema).length === 0) continue;
      const table = isPublished(body) ? '' : schemas.table(schema, `\`${name}\``);
      const where = isPublished(body) ? `See [the message](messages/${body?.split('.')[0]}.md).\n` : table;
      if (where !== '') bodies.push(`### \`${name}\`\n\n${operation.requestBody?.description}\n\n${where}`);
    }
  }
  const tables = [...groups].map(([group, rows]) => {
    return `## ${group}\n\n| route | key | |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [HEADING, ...tables, '## Bodies\n', ...bodies].join('\n');
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

/** Whether this is the route of one agent beside the same route of the default agent. */
function isTwin(path: string, paths: OpenApi['paths']): boolean {
  return path.includes(AGENT) && Object.hasOwn(paths, path.replace(AGENT, '')) && ONE_AGENT.test(path);
}

function groupOf(path: string): string {
  return GROUPS.find(([pattern]) => pattern.test(path))?.[1] ?? 'Operation';
}

function isPublished(name: string | undefined): boolean {
  return name !== undefined && /^(?:e2a|a2[ae]-\w+)\./.test(name);
}

const AGENT = '/agents/{agent_id}';
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

const HEADING = `# HTTP

One port. Send a key as \`Authorization: Bearer KEY\` or \`X-API-Key\`. For programs: \`GET /openapi.json\`. \`[/agents/{agent_id}]\` may be left out for the default agent.

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

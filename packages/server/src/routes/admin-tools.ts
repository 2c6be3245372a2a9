import { ALL_PERMISSIONS, type LogLine, type McpServers, type Principal, type ToolRegistry } from '@dragoman/core';
import { failure, type JsonObject } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';
import { changeJson } from './pin-change.ts';

/** Administration of tools: the list, and changed tools that wait to be accepted. */
export function adminToolRoutes({ tools, servers }: { tools: ToolRegistry; servers: McpServers }): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/tools',
      access: 'admin',
      counts: false,
      summary:
        'List all tools, including changed ones that are held until they are accepted. undecided leaves out refused changes.',
      handle: async () => {
        const found = await tools.list(ADMIN, { deferred: true });
        const rows = found.map(({ name, description, toolkit }) => ({ name, description, toolkit }));
        return { status: 200, json: { tools: rows, held: servers.held(), undecided: servers.undecided() } };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/tools/:name/accept',
      access: 'admin',
      counts: false,
      summary: 'Accept a changed tool.',
      handle: async ({ params }) => {
        const name = params['name'] ?? '';
        if (await servers.accept(name)) return { status: 200, json: { name, accepted: true } };
        return NOT_HELD;
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/tools/:name/refuse',
      access: 'admin',
      counts: false,
      summary: 'Refuse the change of a tool. It stays held until it changes again.',
      handle: async ({ params }) => {
        const name = params['name'] ?? '';
        return (await servers.refuse(name)) ? { status: 200, json: { name, refused: true } } : NOT_HELD;
      },
    },
    {
      method: 'GET',
      path: '/admin/v1/tools/:name/change',
      access: 'admin',
      counts: false,
      summary: 'Compare a held tool with its accepted definition; before is null if that was not recorded.',
      handle: async ({ params }) => {
        const name = params['name'] ?? '';
        const change = await servers.changeOf(name);
        return change === undefined
          ? NOT_HELD
          : { status: 200, headers: NO_STORE, json: { name, ...changeJson(change) } };
      },
    },
    {
      method: 'GET',
      path: '/admin/v1/mcp-servers',
      access: 'admin',
      counts: false,
      summary: 'MCP servers with their state, and the last 100 log lines about each, oldest first.',
      handle: () => ({
        status: 200,
        headers: NO_STORE,
        json: {
          servers: [...servers.servers()].map((server) => ({ ...server.info(), log: server.lines.map(lineJson) })),
        },
      }),
    },
  ];
}

function lineJson({ at, level, message, fields }: LogLine): JsonObject {
  const { mcp_server: _, ...rest } = fields;
  const more = Object.entries(rest).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return { at: at.toISOString(), level, text: [message, ...more].join('; ').slice(0, LONGEST_LINE) };
}

const NOT_HELD = failure('not_found', {}, 'No changed tool of this name waits for approval.');
const NO_STORE = { 'Cache-Control': 'no-store' };
const LONGEST_LINE = 2000;
const ADMIN: Principal = { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS };

import { ALL_PERMISSIONS, type McpServers, type Principal, type ToolRegistry } from '@dragoman/core';
import { failure } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';

/** Administration of tools: what there is, and what has changed and waits to be accepted. */
export function adminToolRoutes({ tools, servers }: { tools: ToolRegistry; servers: McpServers }): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/tools',
      access: 'admin',
      counts: false,
      summary: 'Every tool, and those that have changed and are held until they are accepted.',
      handle: async () => {
        const found = await tools.list(ADMIN, { deferred: true });
        const rows = found.map(({ name, description, toolkit }) => ({ name, description, toolkit }));
        return { status: 200, json: { tools: rows, held: servers.held() } };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/tools/:name/accept',
      access: 'admin',
      counts: false,
      summary: 'Take a tool that has changed for what it is now.',
      handle: async ({ params }) => {
        const name = params['name'] ?? '';
        if (await servers.accept(name)) return { status: 200, json: { name, accepted: true } };
        return failure('not_found', {}, 'No tool of this name is held.');
      },
    },
  ];
}

const ADMIN: Principal = { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS };

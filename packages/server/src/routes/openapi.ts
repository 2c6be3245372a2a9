import type { JsonObject } from '@dragoman/protocols';
import { openApi } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';

/** The routes, told for people and tools: made from the very table that answers. */
export function openApiRoute(routes: readonly Route[], version: string): Route {
  const route: Route = {
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    counts: false,
    summary: 'This OpenAPI document.',
    handle: () => {
      document ??= openApi([...routes, route], { title: 'Dragoman', version });
      return { status: 200, json: document };
    },
  };
  // Made for the first who asks: it reads files, and most servers are never asked.
  let document: JsonObject | undefined;
  return route;
}

import type { JsonObject } from '@dragoman/protocols';
import { openApi } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';

/** The OpenAPI document: made from the same table that serves the routes. */
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
  // Made on first use, because it reads files.
  let document: JsonObject | undefined;
  return route;
}

import type { Route } from '../http/route.ts';

/** What somebody finds who opens the address in a browser: what this is, and where to read on. */
export function rootRoute(version: string): Route {
  const pointers = {
    name: 'Dragoman',
    version,
    documentation: 'docs/README.md in the repository and in the container image',
    openapi: '/openapi.json',
    health: '/health',
    agents: '/agent',
  };
  return {
    method: 'GET',
    path: '/',
    access: 'public',
    counts: false,
    summary: 'What this server is, and where its documentation and its description are.',
    handle: () => ({ status: 200, json: pointers }),
  };
}

import type { Log } from '@dragoman/core';
import type { Route } from '../http/route.ts';

/** Logs the endpoints and agents that anyone on the network can reach without a key. */
export function logReachable(
  routes: readonly Route[],
  { log, host, agents }: { readonly log: Log; readonly host: string; readonly agents: readonly string[] },
): void {
  const endpoints = routes
    .filter(({ access, refuseAnonymous, isSigned }) => {
      return access === 'public' || (access === 'open' && refuseAnonymous === undefined && isSigned !== true);
    })
    .map(({ method, path }) => `${method} ${path}`);
  const open = `agents: ${agents.length === 0 ? 'none' : agents.join(', ')}; endpoints: ${endpoints.join(', ')}`;
  log.warn({ endpoints, agents }, `Listening on ${host}, not only on this machine. Reachable without a key: ${open}`);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

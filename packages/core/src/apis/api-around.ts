import { climbs } from '../gate/climbing-path.ts';
import { hostPortOf, nameOfHostPort } from '../gate/host-port.ts';
import type { Api, ApiCatalogue } from './api.ts';

/** The API whose base URL contains a URL; of several, the API with the longest path. */
export function apiAround(target: URL, apis: ApiCatalogue): Api | undefined {
  let around: Api | undefined;
  for (const api of apis.list()) {
    if (!isBelow(target, api)) continue;
    if (around === undefined || api.base_url.length > around.base_url.length) around = api;
  }
  return around;
}

/** The path of a URL, relative to the base URL of its API. */
export function pathBelowApi(target: URL, api: Api): string {
  return target.pathname.slice(baseOf(api).pathname.replace(/\/+$/, '').length) || '/';
}

/** Whether some API is at the host and port of a URL, whatever its path. */
export function isHostOfApi(target: URL, apis: ApiCatalogue): boolean {
  const host = nameOfHostPort(hostPortOf(target));
  return apis.list().some((api) => nameOfHostPort(hostPortOf(baseOf(api))) === host);
}

/** The parser has resolved `..`, `%2e%2e` and backslashes in the target already. */
function isBelow(target: URL, api: Api): boolean {
  const base = baseOf(api);
  if (target.origin !== base.origin) return false;
  const path = base.pathname.replace(/\/+$/, '');
  const isInside = target.pathname === path || target.pathname.startsWith(`${path}/`);
  return isInside && !climbs(target.pathname);
}

/** The base URL, parsed once for each `Api`: an `Api` is replaced when it changes. */
function baseOf(api: Api): URL {
  let base = bases.get(api);
  if (base === undefined) {
    base = new URL(api.base_url);
    bases.set(api, base);
  }
  return base;
}

const bases = new WeakMap<Api, URL>();

import { hostPortOf, nameOfHostPort } from '../gate/host-port.ts';
import type { Api, ApiCatalogue } from './api.ts';

/** The API whose base URL a URL is below; of several, the one with the longest path. */
export function apiAround(target: URL, apis: ApiCatalogue): Api | undefined {
  let around: Api | undefined;
  for (const api of apis.list()) {
    if (!isBelow(target, api)) continue;
    if (around === undefined || api.base_url.length > around.base_url.length) around = api;
  }
  return around;
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

/**
 * Whether a path leads above itself for a server that decodes before it resolves `..`, decodes twice, takes a backslash for a
 * slash, drops path parameters (`..;x`), or accepts overlong UTF-8.
 */
function climbs(path: string): boolean {
  let text = path;
  for (let round = 0; round < MOST_DECODINGS && text.includes('%'); round += 1) text = text.replaceAll(ESCAPE, decoded);
  return OVERLONG.test(text) || text.split(/[/\\]/).some((segment) => DOTS.test(segment));
}

function decoded(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

/** An API never changes: another takes its place. */
function baseOf(api: Api): URL {
  let base = bases.get(api);
  if (base === undefined) {
    base = new URL(api.base_url);
    bases.set(api, base);
  }
  return base;
}

const bases = new WeakMap<Api, URL>();
const MOST_DECODINGS = 3;
const ESCAPE = /%([0-9a-f]{2})/gi;
/** Bytes, as characters, that stand for an ASCII character in a decoder that does not refuse them. */
const OVERLONG = /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]/;
/** Some servers drop control characters and blanks. */
const DOTS = /^[\0-\x20]*\.[\0-\x20]*\.[\0-\x20]*(?:;|$)/;

import { nearest } from '../../nearest.ts';
import { show } from '../../validation.ts';
import { nameOf } from '../member.ts';
import { parseUrlTemplate, type UrlParts } from '../template.ts';
import { about, type CheckContext, type CheckedApi, type Draft, type Rule } from './rule.ts';
import { FINDINGS, type FindingCode } from './severity.ts';

/**
 * Each destination has a fixed host, belongs to an API that the caller may use and to one of its endpoints, and is a
 * host that its credentials are bound to.
 */
export const destinations: Rule = ({ operations, context }) => {
  const drafts: Draft[] = [];
  for (const operation of operations.values()) {
    for (const { pointer, text } of operation.uses.urls) {
      const parsed = parseUrlTemplate(text);
      const add = (draft: Omit<Draft, 'pointer' | 'operationId'>, at = pointer) =>
        drafts.push(about(operation, at, draft));
      if (!parsed.ok) {
        const { code, expected, suggestion } = parsed.fault;
        // The message must not repeat a password in a URL.
        const got = code === 'url_userinfo' ? '' : `; got ${show(text)}`;
        const message = `${nameOf(pointer)} ${expected}${got}`;
        add({ code: isFinding(code) ? code : 'url', message, ...(suggestion !== undefined && { suggestion }) });
        continue;
      }
      if (!parsed.url.secure) {
        const message = `${nameOf(pointer)} is plain http, which is allowed only for hosts in gate.allow`;
        add({ code: 'plain_http', message, suggestion: 'use https' });
      }
      const found = apiFinding(String(operation.config['method']), parsed.url, context);
      if (found !== undefined) add({ ...found, message: `${nameOf(pointer)} ${found.message}` });
      for (const { id, pointer: at } of operation.uses.credentials) {
        const hosts = hostsOf(id, context);
        if (hosts === undefined || hosts.some((host) => isHost(host, parsed.url))) continue;
        const message = `${nameOf(at)} would send the credential ${show(id)} to ${parsed.url.origin}; it is bound to ${hosts.join(', ') || 'no host'}`;
        // As operators write it: a host without a port means port 443.
        const { host, port } = parsed.url;
        const ask = `ask the operator to bind it to ${port === 443 ? host : `${host}:${port}`}`;
        const suggestion = hosts.length === 0 ? ask : `send it to ${hosts.join(' or ')}, or ${ask}`;
        add({ code: 'credential_host', message, suggestion }, at);
      }
    }
  }
  return drafts;
};

/** The registered API of a URL, and the problem with calling it. */
function apiFinding(
  method: string,
  url: UrlParts,
  { apis, permissions }: CheckContext,
): Omit<Draft, 'pointer' | 'operationId'> | undefined {
  const permitted = permissions?.apis;
  const limited = permitted !== undefined && !permitted.includes('*');
  if (apis === undefined && !limited) return undefined;
  const match = apiOf(url, apis ?? {});
  if (limited && (match === undefined || !permitted.includes(match.id))) {
    const usable = permitted.flatMap((id) =>
      apis !== undefined && Object.hasOwn(apis, id) ? [`${id} at ${apis[id]?.base_url}`] : [],
    );
    return {
      code: 'api_not_allowed',
      message: `calls ${match === undefined ? `${url.origin}${url.pathPattern}` : `the API ${match.id}`}, which is not an API that this agent may use`,
      suggestion:
        usable.length === 0 ? 'see availableApis in GET /api/v1/capabilities' : `it may use ${usable.join(', ')}`,
    };
  }
  if (match === undefined) {
    const origins = new Map(Object.entries(apis ?? {}).map(([id, api]) => [api.base_url, id]));
    const close = nearest(url.origin, origins.keys());
    return {
      code: 'api_unknown',
      message: `calls ${url.origin}${url.pathPattern}, which does not belong to a registered API`,
      ...(close !== undefined && { suggestion: `did you mean ${close}, the API ${origins.get(close)}?` }),
    };
  }
  return endpointFinding(method, match, limited);
}

function endpointFinding(
  method: string,
  { id, api, path }: ApiMatch,
  limited: boolean,
): Omit<Draft, 'pointer' | 'operationId'> | undefined {
  const endpoints = api.endpoints ?? [];
  if (endpoints.length === 0) return undefined;
  if (isListedEndpoint(api, method, path)) return undefined;
  const known = endpoints.map((endpoint) => `${endpoint.method.toUpperCase()} ${endpoint.path}`);
  const close = nearest(`${method} ${path}`, known);
  return {
    code: limited && api.allow_unlisted !== true ? 'endpoint_not_allowed' : 'endpoint_unknown',
    message: `calls ${method} ${path}, which is not a registered endpoint of the API ${id}`,
    suggestion: close === undefined ? `registered: ${known.slice(0, 6).join(', ')}` : `did you mean ${close}?`,
  };
}

/** Whether an API has an endpoint for this method and path, or lists none. */
export function isListedEndpoint(
  { endpoints = [] }: Pick<CheckedApi, 'endpoints'>,
  method: string,
  path: string,
): boolean {
  if (endpoints.length === 0) return true;
  return endpoints.some((endpoint) => endpoint.method.toUpperCase() === method && samePath(endpoint.path, path));
}

interface ApiMatch {
  readonly id: string;
  readonly api: CheckedApi;
  /** The path below the API's base. */
  readonly path: string;
}

/** The API whose base URL is the longest prefix of the URL. */
export function apiOf(url: UrlParts, apis: Readonly<Record<string, CheckedApi>>): ApiMatch | undefined {
  let best: (ApiMatch & { base: string }) | undefined;
  for (const [id, api] of Object.entries(apis)) {
    const parsed = parseUrlTemplate(api.base_url);
    if (!parsed.ok || parsed.url.origin !== url.origin) continue;
    const base = parsed.url.fixedPath.replace(/\/+$/, '');
    const inside = url.fixedPath === base || url.fixedPath.startsWith(`${base}/`);
    // A path with `..` would leave the base.
    if (!inside || climbs(url)) continue;
    if (best === undefined || base.length > best.base.length) {
      best = { id, api, base, path: url.pathPattern.slice(base.length) || '/' };
    }
  }
  return best;
}

function climbs({ pathPattern }: UrlParts): boolean {
  return /(?:^|\/)(?:\.|%2e){2}(?:\/|$)/i.test(pathPattern);
}

/** Compares segment by segment. `{id}` and `:id` in the endpoint, and a template in the URL, match anything. */
function samePath(endpoint: string, path: string): boolean {
  const wanted = endpoint.replace(/\/+$/, '').split('/');
  const given = path.replace(/\/+$/, '').split('/');
  return (
    wanted.length === given.length &&
    wanted.every((segment, at) => segment === given[at] || /^(?:\{.+\}|:.+)$/.test(segment) || given[at]?.includes('*'))
  );
}

/** The hosts a credential is bound to; `undefined` if the caller must not use the credential, or they are unknown. */
export function hostsOf(id: string, { credentials, permissions }: CheckContext): readonly string[] | undefined {
  const permitted = permissions?.credentials;
  if (permitted !== undefined && !permitted.includes('*') && !permitted.includes(id)) return undefined;
  return credentials !== undefined && Object.hasOwn(credentials, id) ? credentials[id]?.hosts : undefined;
}

/** `host` means port 443 over https; `host:port` means that port, over http or https. */
export function isHost(host: string, url: UrlParts): boolean {
  const wanted = host.toLowerCase();
  return wanted === `${url.host}:${url.port}` || (wanted === url.host && url.port === 443 && url.secure);
}

/** As operators write it: without the default port of https. */
export function hostName({ host, port }: UrlParts): string {
  return port === 443 ? host : `${host}:${port}`;
}

function isFinding(code: string): code is FindingCode {
  return Object.hasOwn(FINDINGS, code);
}

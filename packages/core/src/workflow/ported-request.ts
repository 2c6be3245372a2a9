import type { Json } from '@dragoman/protocols';
import { CredentialUse } from '../secrets/credential-use.ts';
import type { ApiRequest } from './effects.ts';
import type { PortedRequest, PortedValue } from './pool-messages.ts';

/** Makes a request that can be sent to another thread. */
export function portRequest(request: ApiRequest): PortedRequest {
  return {
    ...request,
    query: request.query.map(([name, value]) => [name, portValue(value)]),
    headers: Object.entries(request.headers).map(([name, value]) => [name, portValue(value)]),
    body: portBody(request.body),
  };
}

/** Restores a request from another thread. */
export function unportRequest(ported: PortedRequest): ApiRequest {
  return {
    ...ported,
    query: ported.query.map(([name, value]) => [name, unportValue(value)]),
    headers: Object.fromEntries(ported.headers.map(([name, value]) => [name, unportValue(value)])),
    body: unportBody(ported.body),
  };
}

function portValue(value: string | CredentialUse): PortedValue {
  return value instanceof CredentialUse ? { credential: value.id } : value;
}

function unportValue(value: PortedValue): string | CredentialUse {
  return typeof value === 'string' ? value : new CredentialUse(value.credential);
}

/** A secret is a direct member of the body, never deeper. */
function portBody(body: ApiRequest['body']): PortedRequest['body'] {
  if (body === undefined || 'bytes' in body) return body;
  const credentials = Object.entries(body.json as object).flatMap(([member, value]) =>
    value instanceof CredentialUse ? [[member, value.id] as const] : [],
  );
  return { json: new TextEncoder().encode(JSON.stringify(body.json)), credentials };
}

function unportBody(body: PortedRequest['body']): ApiRequest['body'] {
  if (body === undefined || 'bytes' in body) return body;
  const json = JSON.parse(new TextDecoder().decode(body.json)) as Json;
  const uses = new Map(body.credentials.map(([member, id]) => [member, new CredentialUse(id)]));
  if (Array.isArray(json)) return { json: json.map((item, at) => uses.get(String(at)) ?? item) };
  return {
    json: Object.fromEntries(Object.entries(json as object).map(([name, value]) => [name, uses.get(name) ?? value])),
  };
}

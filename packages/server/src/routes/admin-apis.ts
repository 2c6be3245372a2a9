import { type Api, ApiDefinition, type Apis, decodeApi, unreadable } from '@dragoman/core';
import { type Failure, failure, type JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';

/** Administration of the APIs that workflows may call. Every change is on disk before it is acknowledged. */
export function adminApiRoutes(apis: Apis): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/apis',
      access: 'admin',
      counts: false,
      summary: 'List all APIs.',
      handle: () => ({ status: 200, json: { apis: apis.list().map((api) => apiJson(api, apis)) } }),
    },
    {
      method: 'PUT',
      path: '/admin/v1/apis/:api_id',
      access: 'admin',
      counts: false,
      summary: 'Create or replace an API, from a definition or an OpenAPI document.',
      body: { contentTypes: ['application/json'], maxBytes: 1024 * 1024, schema: ApiDefinition },
      handle: (request) => putApi(request, apis),
    },
    {
      method: 'GET',
      path: '/admin/v1/apis/:api_id',
      access: 'admin',
      counts: false,
      summary: 'Read an API.',
      handle: ({ params }) => {
        const api = apis.find(params['api_id'] ?? '');
        return api === undefined ? noApi() : { status: 200, json: apiJson(api, apis) };
      },
    },
    {
      method: 'DELETE',
      path: '/admin/v1/apis/:api_id',
      access: 'admin',
      counts: false,
      summary: 'Remove an API.',
      handle: async ({ params }) => {
        const id = params['api_id'] ?? '';
        return (await apis.remove(id)) ? { status: 200, json: { id, removed: true } } : noApi();
      },
    },
  ];
}

async function putApi(request: InboundRequest, apis: Apis): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const decoded = decodeApi(request.params['api_id'] ?? '', json.value);
  if (!decoded.ok) return failure('invalid_message', { issues: decoded.issues });
  const done = await apis.put(decoded.value);
  const warnings = decoded.warnings.map(({ message }) => message);
  return {
    status: done === 'made' ? 201 : 200,
    json: { ...apiJson(decoded.value, apis), ...(warnings.length > 0 && { warnings }) },
  };
}

function apiJson(api: Api, apis: Apis): JsonObject {
  return { ...(api as unknown as JsonObject), from: apis.isConfigured(api.id) ? 'config' : 'admin' };
}

function noApi(): Failure {
  return failure('not_found', {}, 'API not found.');
}

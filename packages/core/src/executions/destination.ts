import { type Failure, failure } from '@dragoman/protocols';
import { isListedEndpoint } from '@dragoman/protocols/a2e-workflow';
import type { ApiCatalogue } from '../apis/api.ts';
import { apiAround, isHostOfApi, pathBelowApi } from '../apis/api-around.ts';
import type { Permissions } from '../call/principal.ts';
import { credentialsIn } from '../gate/injection.ts';
import type { ApiRequest } from '../workflow/effects.ts';

/**
 * Why the caller may not call a URL. The plan was checked before its templates were filled in;
 * their values must not lead out of the API. Where a host has APIs, credentials are sent below their base URLs only,
 * even by callers that may use any API.
 */
export function refuseDestination(
  target: URL | undefined,
  { apis: permitted }: Pick<Permissions, 'apis'>,
  apis: ApiCatalogue,
  parts: Pick<ApiRequest, 'method' | 'headers' | 'query' | 'body'>,
): Failure | undefined {
  if (target === undefined) return failure('invalid_message', {}, 'The URL of the call is not valid.');
  if (target.username !== '' || target.password !== '') {
    return failure('forbidden', {}, 'A URL must not contain a user or a password. Use a credential.');
  }
  const api = apiAround(target, apis);
  if (permitted.includes('*')) {
    if (api !== undefined || credentialsIn(parts).length === 0 || !isHostOfApi(target, apis)) return undefined;
    return failure(
      'forbidden',
      { sent: false, suggestions: ['call the API below its base URL, or leave the credential out'] },
      `The credential was not sent: ${target.origin}${target.pathname} is outside the base URL of every API on that host.`,
    );
  }
  if (api !== undefined && permitted.includes(api.id)) {
    const path = pathBelowApi(target, api);
    if (api.allow_unlisted === true || isListedEndpoint(api, parts.method, path)) return undefined;
    return failure(
      'forbidden',
      { sent: false, suggestions: [`see the endpoints of ${api.id} in availableApis of the capabilities`] },
      `${parts.method} ${path} is not an endpoint of the API ${api.id} that this agent may call.`,
    );
  }
  return failure(
    'forbidden',
    { suggestions: ['see availableApis in GET /api/v1/capabilities'] },
    `The call goes to ${target.origin}${target.pathname}, which is not below the base URL of an API that this agent may use.`,
  );
}

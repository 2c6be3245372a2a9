import { type Failure, failure } from '@dragoman/protocols';
import type { ApiCatalogue } from '../apis/api.ts';
import type { Permissions } from '../principal.ts';

/**
 * Why a URL, with everything filled in, is none the caller may call. The plan was checked with its templates open; what
 * they were filled with must not lead out of the API.
 */
export function refuseDestination(
  target: URL | undefined,
  { apis: permitted }: Pick<Permissions, 'apis'>,
  apis: ApiCatalogue,
): Failure | undefined {
  if (target === undefined) return failure('invalid_message', {}, 'The URL of the call is none.');
  if (target.username !== '' || target.password !== '') {
    return failure('forbidden', {}, 'A URL carries no user and no password: use a credential.');
  }
  if (permitted.includes('*')) return undefined;
  const isInside = permitted.some((id) => {
    const base = apis.find(id)?.base_url;
    return base !== undefined && URL.canParse(base) && isBelow(target, new URL(base));
  });
  if (isInside) return undefined;
  return failure(
    'forbidden',
    { suggestions: ['see availableApis in the capabilities'] },
    `The call goes to ${target.origin}${target.pathname}, which is below no API this agent may use.`,
  );
}

/** Whether a URL lies below a base. */
export function isBelow(target: URL, base: URL): boolean {
  const path = base.pathname.replace(/\/+$/, '');
  const isInside = target.pathname === path || target.pathname.startsWith(`${path}/`);
  // A peer that decodes before it resolves would climb.
  return target.origin === base.origin && isInside && !CLIMBING.test(target.pathname);
}

const CLIMBING = /(?:^|\/|%2f|%5c|\\)(?:\.|%2e){2}(?:\/|%2f|%5c|\\|$)/i;

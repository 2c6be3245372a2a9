import type { Apis } from '../../apis/apis.ts';
import { allows } from '../../call/principal.ts';
import { keyOf, type Source } from '../thing.ts';

/** The endpoints of APIs, each as an entry of its own, with what a caller needs to call it. */
export function endpointSource(apis: Pick<Apis, 'list' | 'version'>): Source {
  return {
    type: 'endpoint',
    get version() {
      return apis.version;
    },
    things: () =>
      apis.list().flatMap((api) =>
        api.endpoints.map(({ method, path, description }) => ({
          type: 'endpoint',
          id: `${api.id} ${method} ${path}`,
          name: path,
          text: description ?? '',
          context: `${api.id}: ${api.description ?? ''}`,
          partOf: keyOf({ type: 'api', id: api.id }),
          details: { api: api.id, method, path, url: `${api.base_url}${path}` },
        })),
      ),
    permits: ({ permissions }, { details }) => allows(permissions.apis, String(details['api'])),
  };
}

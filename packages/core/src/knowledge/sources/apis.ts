import type { Apis } from '../../apis/apis.ts';
import { allows } from '../../call/principal.ts';
import type { Source } from '../thing.ts';

/** Whole APIs, by their descriptions. */
export function apiSource(apis: Pick<Apis, 'list' | 'version'>): Source {
  return {
    type: 'api',
    get version() {
      return apis.version;
    },
    things: () =>
      apis.list().map(({ id, base_url, description, endpoints }) => ({
        type: 'api',
        id,
        name: id,
        text: description ?? '',
        details: { base_url, endpoints: endpoints.length },
      })),
    permits: ({ permissions }, { id }) => allows(permissions.apis, id),
  };
}

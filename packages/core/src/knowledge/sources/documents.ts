import type { KnowledgeBases } from '../bases.ts';
import type { Source } from '../thing.ts';

/** The documents in knowledge bases. */
export function documentSource(bases: KnowledgeBases): Source {
  return {
    type: 'document',
    get version() {
      return bases.version;
    },
    things: () =>
      bases.list().flatMap(({ id: baseId, documents }) =>
        documents.map(({ id, title, text, metadata = {} }) => ({
          type: 'document',
          id,
          baseId,
          name: title ?? id,
          text,
          details: { metadata },
        })),
      ),
    permits: (principal, { baseId = '' }) => bases.permits(principal, baseId),
  };
}

import { withQuery } from '../router.ts';

interface PagingParts {
  /** The cursor of the shown page; absent on the first one. */
  readonly cursor: string | undefined;
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null | undefined;
  readonly firstLabel?: string;
  readonly nextLabel?: string;
}

/** Links to the first page of a list and to the next one. */
export function Paging({ cursor, next, firstLabel = 'Newest', nextLabel = 'Older' }: PagingParts) {
  if (cursor === undefined && next == null) return null;
  return (
    <nav class="bar" aria-label="More pages">
      {cursor !== undefined && (
        <a class="button" href={withQuery({ cursor: undefined })}>
          « {firstLabel}
        </a>
      )}
      {next != null && (
        <a class="button" href={withQuery({ cursor: next })}>
          {nextLabel} ›
        </a>
      )}
    </nav>
  );
}

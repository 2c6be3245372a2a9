import { type Failure, failure } from '@dragoman/protocols';
import { isFailure } from '../http/problem.ts';
import type { RouteParameter } from '../http/route.ts';
import { integerIn } from './integer-in.ts';
import { integerParameter, textParameter } from './route-parameters.ts';

/** The page of a list that `limit` asks for. Without `limit`, the whole list is returned. */
interface ListQuery {
  readonly limit: number;
  /** The name after which the page begins. */
  readonly cursor: string | undefined;
  /** The searched text, in lower case. */
  readonly text: string | undefined;
}

export const LIST_PARAMETERS: readonly RouteParameter[] = [
  integerParameter('limit', 'Maximum number of entries, at most 200. Default: all.'),
  textParameter('cursor', 'The next_cursor of the previous page.'),
  textParameter('text', 'Only entries whose names contain this text.'),
];

export function listQueryIn(query: URLSearchParams): ListQuery | Failure {
  const limit = integerIn(query, 'limit', { from: 1, to: 200, otherwise: Number.POSITIVE_INFINITY });
  if (isFailure(limit)) return limit;
  const cursor = query.get('cursor') ?? undefined;
  if (cursor === '') {
    const message = 'cursor must be the next_cursor of a page; got ""';
    return failure('invalid_message', { issues: [{ pointer: '/cursor', code: 'type', message }] }, message);
  }
  const text = query.get('text')?.toLowerCase();
  return { limit: limit.value, cursor, text: text === '' ? undefined : text };
}

/**
 * A page of the entries, sorted by their names, which are unique. Only the entries of the page are sorted, because a
 * list may be long.
 */
export function pageOf<Entry>(
  entries: Iterable<Entry>,
  { limit, cursor }: ListQuery,
  nameOf: (entry: Entry) => string,
): { readonly page: readonly Entry[]; readonly next: string | null } {
  let found: Entry[] = [];
  let last: string | undefined;
  const byName = (one: Entry, other: Entry) => (nameOf(one) < nameOf(other) ? -1 : 1);
  for (const entry of entries) {
    const name = nameOf(entry);
    if ((cursor !== undefined && name <= cursor) || (last !== undefined && name > last)) continue;
    found.push(entry);
    if (found.length < 2 * limit + 1) continue;
    // One entry above the page size shows whether another page follows.
    found = found.sort(byName).slice(0, limit + 1);
    const end = found.at(-1);
    last = end && nameOf(end);
  }
  found.sort(byName);
  const page = found.slice(0, limit);
  const end = found.length > limit ? page.at(-1) : undefined;
  return { page, next: end === undefined ? null : nameOf(end) };
}

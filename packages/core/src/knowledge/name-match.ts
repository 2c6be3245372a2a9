import type { Thing } from './thing.ts';

/**
 * Whether a query is the name of a thing: 2 for the whole name, 1 for a part of it, else 0. Ignores case and
 * separators.
 */
export function nameMatch(query: string, { id, name }: Pick<Thing, 'id' | 'name'>): 0 | 1 | 2 {
  const wanted = plain(query);
  if (wanted.length < SHORTEST) return 0;
  const names = [plain(id), plain(name)];
  if (names.includes(wanted)) return 2;
  return names.some((each) => each.includes(wanted)) ? 1 : 0;
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[\s._/:-]+/g, '');
}

/** A shorter query is a part of too many names. */
const SHORTEST = 3;

import type { Thing } from './thing.ts';

/** How much a query is the name of a thing: 2 for the whole name, 1 for a part of it, else 0. Case and separators do not count. */
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

/** One letter is in every name. */
const SHORTEST = 3;

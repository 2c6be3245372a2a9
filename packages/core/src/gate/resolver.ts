import { lookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports.ts';

/** Every address of a name, in the order to try them. Rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** As this machine resolves names, its hosts file included. */
export const systemResolve: Resolve = async (name) => {
  const answers = await lookup(name, { all: true, order: 'ipv4first' });
  return answers.map(({ address }) => address);
};

/** Whether the same lookup may come to something later: only one failure says that there is no such name. */
export function isPassingLookup(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code !== 'ENOTFOUND';
}

/**
 * Remembers answers for a moment, so that a burst of requests asks once. What is remembered is judged each time it is used,
 * and connections are made to it and to nothing else.
 */
export function rememberingResolve(resolve: Resolve, { clock, forMs }: { clock: Clock; forMs: number }): Resolve {
  const known = new LRUCache<string, { readonly answers: Promise<readonly string[]>; readonly until: number }>({
    max: 1000,
  });
  return (name) => {
    const earlier = known.get(name);
    if (earlier !== undefined && clock.elapsed() < earlier.until) return earlier.answers;
    const answers = resolve(name);
    known.set(name, { answers, until: clock.elapsed() + forMs });
    // A name that cannot be resolved now may be in the next moment.
    answers.catch(() => known.delete(name));
    return answers;
  };
}

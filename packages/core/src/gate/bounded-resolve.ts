import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports.ts';
import type { Resolve } from './resolver.ts';

/**
 * Waits for a lookup no longer than this, and looks up only a few names at a time that were not found before. The system's
 * lookup keeps one of Node's four threads until it ends, and files are read by the same four: a stranger who names hosts
 * whose name servers are dead could take them all. Names that are known to be good have their turn at once.
 */
export function boundedResolve(resolve: Resolve, { clock, withinMs }: { clock: Clock; withinMs: number }): Resolve {
  const good = new LRUCache<string, true>({ max: 1000 });
  const waiting = new Set<() => void>();
  let strange = 0;

  const startNext = (): void => {
    for (const start of waiting) {
      if (strange === STRANGE_AT_ONCE) return;
      waiting.delete(start);
      strange += 1;
      start();
    }
  };
  const strangeIsOver = (): void => {
    strange -= 1;
    startNext();
  };

  return (name) =>
    new Promise((found, fail) => {
      const start = async (): Promise<void> => {
        try {
          found(await resolve(name));
          good.set(name, true);
        } catch (error) {
          fail(error);
        } finally {
          cancel();
        }
      };
      const startStrange = () => void start().finally(strangeIsOver);
      const cancel = clock.after(withinMs, () => {
        waiting.delete(startStrange);
        good.delete(name);
        fail(new NoAnswerYet(name));
      });
      if (good.has(name)) return void start();
      waiting.add(startStrange);
      startNext();
    });
}

/** In the word of the system for a lookup that may come to something later. */
class NoAnswerYet extends Error {
  readonly code = 'EAI_AGAIN';

  constructor(name: string) {
    super(`the lookup of ${name} takes too long`);
  }
}

/** Of Node's four threads. */
const STRANGE_AT_ONCE = 2;

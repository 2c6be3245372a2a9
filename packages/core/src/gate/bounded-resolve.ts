import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports.ts';
import type { Resolve } from './resolver.ts';

/**
 * Waits for a lookup no longer than this, and looks up only a few names at a time, fewer still that were not found before. The
 * system's lookup keeps one of Node's four threads until it ends, and files are read by the same four: a stranger who names
 * hosts whose name servers are dead could take them all, or whose name servers die once they have answered. Names that are
 * known to be good have their turn first.
 */
export function boundedResolve(resolve: Resolve, { clock, withinMs }: { clock: Clock; withinMs: number }): Resolve {
  const good = new LRUCache<string, true>({ max: 1000 });
  const [known, strange] = [new Lane(AT_ONCE), new Lane(STRANGE_AT_ONCE)];

  const startNext = (): void => {
    for (const lane of [known, strange]) {
      while (known.underWay + strange.underWay < AT_ONCE) {
        const lookUp = lane.next();
        if (lookUp === undefined) break;
        void lookUp().finally(() => {
          lane.underWay -= 1;
          startNext();
        });
      }
    }
  };

  return (name) =>
    new Promise((found, fail) => {
      const lane = good.has(name) ? known : strange;
      const lookUp = async (): Promise<void> => {
        try {
          found(await resolve(name));
          good.set(name, true);
        } catch (error) {
          fail(error);
        } finally {
          cancel();
        }
      };
      const cancel = clock.after(withinMs, () => {
        lane.waiting.delete(lookUp);
        good.delete(name);
        fail(new NoAnswerYet(name));
      });
      lane.waiting.add(lookUp);
      startNext();
    });
}

/** Lookups of one sort, in the order they came. */
class Lane {
  readonly waiting = new Set<() => Promise<void>>();
  readonly #most: number;
  underWay = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes the next one out, if there is one and it may start. */
  next(): (() => Promise<void>) | undefined {
    const [first] = this.waiting;
    if (first === undefined || this.underWay === this.#most) return undefined;
    this.waiting.delete(first);
    this.underWay += 1;
    return first;
  }
}

/** In the word of the system for a lookup that may come to something later. */
class NoAnswerYet extends Error {
  readonly code = 'EAI_AGAIN';

  constructor(name: string) {
    super(`the lookup of ${name} takes too long`);
  }
}

/** Of Node's four threads: one is left to read files, and one more than strangers get to names that are known. */
const AT_ONCE = 3;
const STRANGE_AT_ONCE = 2;

import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports.ts';
import { inTime, type Lookup, NoAnswerYet, type Resolve } from './resolver.ts';

/**
 * Names that the system looks up. Its lookup keeps one of Node's four threads until it ends, however long nobody waits for it
 * any more, and files are read by the same four. So only a few names are looked up at a time, and the less a name has to show
 * for itself the fewer: one that was found the last time finds a thread beside all that were not, and one that the operator
 * chose beside all that somebody else did.
 */
export class SystemLookups {
  readonly #resolve: Resolve;
  readonly #clock: Clock;
  readonly #withinMs: number;
  readonly #found = new LRUCache<string, true>({ max: 1000 });
  /** What keeps a thread, by name: nothing has more than one. */
  readonly #resolving = new Map<string, ReturnType<Resolve>>();
  /** The best first. */
  readonly #lanes = AT_ONCE.map(() => new Lane());

  constructor({ resolve, clock, withinMs }: { resolve: Resolve; clock: Clock; withinMs: number }) {
    this.#resolve = resolve;
    this.#clock = clock;
    this.#withinMs = withinMs;
  }

  lookUp(name: string, { isChosen }: { isChosen: boolean }): Lookup {
    const resolving = this.#resolving.get(name);
    if (resolving !== undefined) {
      return { answers: inTime(resolving, { name, clock: this.#clock, withinMs: this.#withinMs }), hasBegun: true };
    }
    const lane = this.#lanes[this.#found.has(name) ? FOUND : isChosen ? CHOSEN : OTHERS] as Lane;
    const state = { hasBegun: false };
    const answers = new Promise<readonly string[]>((found, fail) => {
      const late = () => {
        giveUp();
        tooLate();
        lane.waiting.delete(begin);
        if (state.hasBegun) this.#found.delete(name);
        fail(new NoAnswerYet(name));
      };
      // What begins has time left to be found in.
      const giveUp = this.#clock.after(this.#withinMs / 2, late);
      const tooLate = this.#clock.after(this.#withinMs, late);
      const begin = async (): Promise<void> => {
        giveUp();
        state.hasBegun = true;
        try {
          const resolving = this.#resolve(name);
          this.#resolving.set(name, resolving);
          found(await resolving);
          this.#found.set(name, true);
        } catch (error) {
          fail(error);
        } finally {
          this.#resolving.delete(name);
          tooLate();
        }
      };
      lane.waiting.add(begin);
      this.#startNext();
    });
    return {
      answers,
      get hasBegun() {
        return state.hasBegun;
      },
    };
  }

  #startNext(): void {
    for (const [index, lane] of this.#lanes.entries()) {
      for (const begin of lane.waiting) {
        if (!this.#hasRoom(index)) break;
        lane.waiting.delete(begin);
        lane.underWay += 1;
        void begin().finally(() => {
          lane.underWay -= 1;
          this.#startNext();
        });
      }
    }
  }

  /** A lane shares its places with those after it, and has to leave those before it theirs. */
  #hasRoom(index: number): boolean {
    const isFull = (most: number, from: number) =>
      this.#lanes.slice(from).reduce((sum, { underWay }) => sum + underWay, 0) >= most;
    return !AT_ONCE.slice(0, index + 1).some(isFull);
  }
}

/** Lookups of one sort, in the order they came. */
class Lane {
  readonly waiting = new Set<() => Promise<void>>();
  underWay = 0;
}

const [FOUND, CHOSEN, OTHERS] = [0, 1, 2];
/** For each lane and those after it together. Of Node's four threads one is always left to read files. */
const AT_ONCE = [3, 2, 1];

import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/ports.ts';
import { inTime, type Lookup, NoAnswerYet, type Resolve } from './resolver.ts';

/**
 * Looks up names by the system. A lookup occupies one of Node's four threads until it ends, even if nobody waits for it
 * any more, and the same threads read files. So only a few names are looked up at a time, each once. One thread is
 * reserved for names that the operator chose or that were found the last time, and another one for the latter.
 */
export class SystemLookups {
  readonly #resolve: Resolve;
  readonly #clock: Clock;
  readonly #withinMs: number;
  readonly #found = new LRUCache<string, true>({ max: 1000 });
  readonly #running = new Map<string, ReturnType<Resolve>>();
  readonly #waiting = new Set<Waiting>();

  constructor({ resolve, clock, withinMs }: { resolve: Resolve; clock: Clock; withinMs: number }) {
    this.#resolve = resolve;
    this.#clock = clock;
    this.#withinMs = withinMs;
  }

  lookUp(name: string, { isChosen }: { isChosen: boolean }): Lookup {
    const bound = { name, clock: this.#clock, withinMs: this.#withinMs };
    const running = this.#running.get(name);
    if (running !== undefined) return { answers: inTime(running, bound), hasStarted: true };
    let hasStarted = false;
    const answers = new Promise<readonly string[]>((found, fail) => {
      const begin = () => {
        hasStarted = true;
        cancel();
        this.#run(name).then(found, fail);
      };
      const waiting = { begin, mostOthers: this.#found.has(name) ? 2 : isChosen ? 1 : 0 };
      // A lookup that begins has at least half of the time left.
      const cancel = this.#clock.after(this.#withinMs / 2, () => {
        this.#waiting.delete(waiting);
        fail(new NoAnswerYet(name));
      });
      this.#waiting.add(waiting);
      this.#beginNext();
    });
    return {
      answers: inTime(answers, bound),
      get hasStarted() {
        return hasStarted;
      },
    };
  }

  #run(name: string): ReturnType<Resolve> {
    const running = this.#resolve(name);
    this.#running.set(name, running);
    running
      .then(
        () => this.#found.set(name, true),
        () => this.#found.delete(name),
      )
      .finally(() => {
        this.#running.delete(name);
        this.#beginNext();
      });
    return running;
  }

  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#running.size > waiting.mostOthers) continue;
      this.#waiting.delete(waiting);
      waiting.begin();
    }
  }
}

interface Waiting {
  begin(): void;
  /**
   * The lookup begins when at most this many others run. Never above two, so that one of four threads is left for
   * files.
   */
  readonly mostOthers: number;
}

import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/ports.ts';
import { dnsResolve, NoNameServer } from './dns-lookups.ts';
import { inTime, type Lookup, NoAnswerYet, type Resolve, systemResolve } from './resolver.ts';
import { SystemLookups } from './system-lookups.ts';

export interface NamesOptions {
  readonly clock: Clock;
  /** The time limit of one lookup. */
  readonly withinMs: number;
  /** How long answers are remembered. */
  readonly forMs: number;
  /** Replaces all lookups, those of the system and those at the name servers. */
  readonly resolve?: Resolve | undefined;
  /** Replaces only the system's lookup. */
  readonly system?: Resolve;
  /** Replaces the machine's name servers. */
  readonly servers?: readonly string[];
}

/**
 * Looks up names. The system looks up those that the operator chose, because it has more sources than the DNS. Any
 * caller can supply other names; for these, the name servers are asked directly, so that a slow name does not delay
 * others. Answers are cached for a moment, so that a burst of requests needs one lookup. They are judged at each use,
 * and connections are made only to judged addresses.
 */
export class Names {
  readonly #options: NamesOptions;
  readonly #system: SystemLookups;
  /** Running lookups and cached answers. */
  readonly #known = new LRUCache<string, { readonly lookup: Lookup; until: number }>({ max: 2000 });
  #running = 0;

  constructor(options: NamesOptions) {
    const { clock, withinMs, system = systemResolve, resolve = system } = options;
    this.#options = options;
    this.#system = new SystemLookups({ resolve, clock, withinMs });
  }

  lookUp(name: string, { isChosen }: { isChosen: boolean }): Lookup {
    const { clock, forMs } = this.#options;
    const key = `${isChosen} ${name}`;
    const known = this.#known.get(key);
    if (known !== undefined && clock.elapsed() < known.until) return known.lookup;
    const lookup = isChosen ? this.#system.lookUp(name, { isChosen }) : this.#lookUpOther(name);
    const entry = { lookup, until: Number.POSITIVE_INFINITY };
    this.#known.set(key, entry);
    lookup.answers.then(
      () => {
        entry.until = clock.elapsed() + forMs;
      },
      // Failures are not cached, because the name may be resolved in the next moment.
      () => this.#known.get(key) === entry && this.#known.delete(key),
    );
    return lookup;
  }

  #lookUpOther(name: string): Lookup {
    if (this.#running >= MOST_AT_ONCE) return { answers: Promise.reject(new NoAnswerYet(name)), hasStarted: false };
    const { resolve, clock, withinMs } = this.#options;
    let system: Lookup | undefined;
    this.#running += 1;
    const lookup =
      resolve === undefined ? dnsResolve(name, this.#options) : inTime(resolve(name), { name, clock, withinMs });
    const answers = lookup
      .catch((error: unknown) => {
        if (!(error instanceof NoNameServer)) throw error;
        system = this.#system.lookUp(name, { isChosen: false });
        return system.answers;
      })
      .finally(() => {
        this.#running -= 1;
      });
    return {
      answers,
      get hasStarted() {
        return system?.hasStarted ?? true;
      },
    };
  }
}

/** Limited, because each lookup at the name servers has its own socket. */
const MOST_AT_ONCE = 500;

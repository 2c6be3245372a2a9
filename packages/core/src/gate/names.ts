import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports.ts';
import { dnsResolve, NoNameServer } from './dns-lookups.ts';
import { HostsFile } from './hosts-file.ts';
import { inTime, type Lookup, NoAnswerYet, type Resolve, systemResolve } from './resolver.ts';
import { SystemLookups } from './system-lookups.ts';

export interface NamesOptions {
  readonly clock: Clock;
  /** For one lookup. */
  readonly withinMs: number;
  /** How long answers are remembered. */
  readonly forMs: number;
  /** In place of all of the machine's own ways. */
  readonly resolve?: Resolve | undefined;
  /** In place of the system's own lookup. */
  readonly system?: Resolve;
  /** In place of the machine's own name servers. */
  readonly servers?: readonly string[];
  /** In place of the machine's own hosts file. */
  readonly hostsFile?: string;
}

/**
 * What names stand for. Those the operator chose, in the configuration or in the hosts file, are looked up by the system, which
 * knows more ways than the DNS. Anybody can give us others, and nobody has to answer for them: they are asked of the name
 * servers directly, where one keeps no other waiting. Answers are remembered for a moment, so that a burst of requests asks
 * once; they are judged each time they are used, and connections are made to them and to nothing else.
 */
export class Names {
  readonly #options: NamesOptions;
  readonly #system: SystemLookups;
  readonly #hostsFile: HostsFile;
  readonly #chosen: Remembered;
  readonly #others: Remembered;
  #underWay = 0;

  constructor(options: NamesOptions) {
    const { clock, withinMs, forMs, system = systemResolve, resolve = system, hostsFile } = options;
    this.#options = options;
    this.#system = new SystemLookups({ resolve, clock, withinMs });
    this.#hostsFile = new HostsFile({ clock, forMs, ...(hostsFile !== undefined && { path: hostsFile }) });
    this.#chosen = new Remembered(options);
    this.#others = new Remembered(options);
  }

  lookUp(name: string, { isChosen }: { isChosen: boolean }): Lookup {
    if (isChosen) return this.#chosen.get(name) ?? this.#chosen.set(name, this.#system.lookUp(name, { isChosen }));
    return this.#others.get(name) ?? this.#others.set(name, this.#lookUpOther(name));
  }

  #lookUpOther(name: string): Lookup {
    const hasRoom = this.#underWay < MOST_AT_ONCE;
    /** The one that stands in the system's line, if it has come to that. */
    let inLine: Lookup | undefined;
    const line = (isChosen: boolean) => {
      inLine = this.#system.lookUp(name, { isChosen });
      return inLine.answers;
    };
    return {
      answers: hasRoom ? this.#counted(() => this.#answersOf(name, line)) : Promise.reject(new NoAnswerYet(name)),
      get hasBegun() {
        return hasRoom && (inLine?.hasBegun ?? true);
      },
    };
  }

  async #answersOf(name: string, line: (isChosen: boolean) => ReturnType<Resolve>): ReturnType<Resolve> {
    const { resolve, clock, withinMs } = this.#options;
    if (resolve !== undefined) return inTime(resolve(name), { name, clock, withinMs });
    if (await this.#hostsFile.has(name)) return line(true);
    try {
      return await dnsResolve(name, this.#options);
    } catch (error) {
      if (error instanceof NoNameServer) return line(false);
      throw error;
    }
  }

  async #counted<Result>(act: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await act();
    } finally {
      this.#underWay -= 1;
    }
  }
}

/** Lookups that are under way, and those of the last moment. */
class Remembered {
  readonly #known = new LRUCache<string, { readonly lookup: Lookup; until: number }>({ max: 1000 });
  readonly #clock: Clock;
  readonly #forMs: number;

  constructor({ clock, forMs }: Pick<NamesOptions, 'clock' | 'forMs'>) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  get(name: string): Lookup | undefined {
    const known = this.#known.get(name);
    return known !== undefined && this.#clock.elapsed() < known.until ? known.lookup : undefined;
  }

  set(name: string, lookup: Lookup): Lookup {
    const entry = { lookup, until: Number.POSITIVE_INFINITY };
    this.#known.set(name, entry);
    lookup.answers.then(
      () => {
        entry.until = this.#clock.elapsed() + this.#forMs;
      },
      // A name that cannot be resolved now may be in the next moment.
      () => this.#known.get(name) === entry && this.#known.delete(name),
    );
    return lookup;
  }
}

/** Each has a socket of its own. */
const MOST_AT_ONCE = 500;

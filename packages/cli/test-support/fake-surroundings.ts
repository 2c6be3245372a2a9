import type { StrayErrorListener, Surroundings } from '../src/surroundings.ts';

export interface FakeOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly stdin?: string | Uint8Array;
  readonly isTTY?: boolean;
  readonly now?: Date;
  /** The user at the terminal. */
  readonly ask?: Surroundings['terminal']['ask'];
}

/** Surroundings that remember what was written, and a hand on Ctrl-C. */
export class FakeSurroundings implements Surroundings {
  readonly environment: Surroundings['environment'];
  readonly folder: string;
  readonly terminal: Surroundings['terminal'];
  readonly exits: number[] = [];
  readonly #now: Date;
  readonly #listeners = new Set<() => void>();
  readonly #hangUpListeners = new Set<() => void>();
  readonly #strayErrorListeners = new Set<StrayErrorListener>();
  /** The output on stdout and stderr. */
  out = '';
  notes = '';

  constructor(options: FakeOptions = {}) {
    const { environment = {}, folder = '/nowhere', stdin = '', isTTY = false, now = new Date(0), ask } = options;
    this.environment = environment;
    this.folder = folder;
    this.#now = now;
    this.terminal = {
      out: (text) => {
        this.out += text;
      },
      note: (text) => {
        this.notes += text;
      },
      readStdin: async () => (typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin),
      isTTY,
      ...(ask !== undefined && { ask }),
      colour: { out: isTTY, note: isTTY },
    };
  }

  readonly now = (): Date => this.#now;

  readonly onSignal = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly onHangUp = (listener: () => void): (() => void) => {
    this.#hangUpListeners.add(listener);
    return () => this.#hangUpListeners.delete(listener);
  };

  readonly onStrayError = (listener: StrayErrorListener): (() => void) => {
    this.#strayErrorListeners.add(listener);
    return () => this.#strayErrorListeners.delete(listener);
  };

  readonly exit = (code: number): void => {
    this.exits.push(code);
  };

  /** As if Ctrl-C were pressed. */
  interrupt(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Simulates SIGHUP, or a closed terminal. */
  hangUp(): void {
    for (const listener of this.#hangUpListeners) listener();
  }

  /** Simulates an uncaught error. */
  stray(...error: Parameters<StrayErrorListener>): void {
    for (const listener of this.#strayErrorListeners) listener(...error);
  }

  get isListening(): boolean {
    return this.#listeners.size + this.#hangUpListeners.size + this.#strayErrorListeners.size > 0;
  }
}

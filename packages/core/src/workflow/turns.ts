import type { Clock } from '../ports/ports.ts';

/** Shares one thread between executions: after its turn, each yields to the others and to the event loop. */
export class Turns {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #milliseconds: number;
  #ends = 0;

  constructor(clock: Pick<Clock, 'elapsed'>, milliseconds: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  /** A turn begins now. */
  begin(): void {
    this.#ends = this.#clock.elapsed() + this.#milliseconds;
  }

  /** `undefined` while the turn lasts; otherwise a promise to await before continuing. */
  breathe(): Promise<void> | undefined {
    if (this.#clock.elapsed() < this.#ends) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.begin();
        resolve();
      });
    });
  }
}

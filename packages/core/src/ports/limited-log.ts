import type { Clock, Log, LogFields } from './ports.ts';

/** A log for events that an unproven caller can cause at will: some lines a second, then only how many were left out. */
export class LimitedLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #fields: LogFields;
  readonly #perSecond: number;
  #second = Number.NEGATIVE_INFINITY;
  #written = 0;
  #leftOut = 0;

  constructor({ log, clock, fields = {}, perSecond = 20 }: LimitedLogOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#fields = fields;
    this.#perSecond = perSecond;
  }

  write(level: keyof Log, fields: LogFields, message: string): void {
    const now = this.#clock.elapsed();
    if (now - this.#second >= 1000) {
      this.flush();
      this.#second = now;
      this.#written = 0;
    }
    if (this.#written++ < this.#perSecond) this.#log[level]({ ...this.#fields, ...fields }, message);
    else this.#leftOut++;
  }

  /** Logs how many lines were left out since the last such line. */
  flush(): void {
    if (this.#leftOut === 0) return;
    this.#log.warn({ ...this.#fields, count: this.#leftOut }, 'log lines of this kind were left out');
    this.#leftOut = 0;
  }
}

interface LimitedLogOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Added to every line. */
  readonly fields?: LogFields;
  readonly perSecond?: number;
}

import type { Clock, Log, LogFields } from './ports.ts';

/** One line of a log. */
export interface LogLine {
  readonly at: Date;
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that passes every line on, and keeps the last ones to look at. */
export class RecentLines implements Log {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #lines: LogLine[] = [];

  constructor({ log, clock }: { readonly log: Log; readonly clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Oldest first. */
  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  debug(fields: LogFields, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#write('error', fields, message);
  }

  #write(level: keyof Log, fields: LogFields, message: string): void {
    this.#log[level](fields, message);
    this.#lines.push({ at: this.#clock.now(), level, message, fields });
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
  }
}

const MOST_LINES = 100;

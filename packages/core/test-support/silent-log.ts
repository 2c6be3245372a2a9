import type { Log, LogFields } from '../src/ports/ports.ts';

/** A log that remembers instead of printing. */
export class SilentLog implements Log {
  readonly lines: { level: string; fields: LogFields; message: string }[] = [];
  debug = this.#at('debug');
  info = this.#at('info');
  warn = this.#at('warn');
  error = this.#at('error');

  #at(level: string) {
    return (fields: LogFields, message: string): void => {
      this.lines.push({ level, fields, message });
    };
  }
}

// The ports of the engine. Nothing else in this package reads the time, creates ids or prints.

export interface Clock {
  now(): Date;
  /** Monotonic milliseconds, for durations, because wall time can jump. */
  elapsed(): number;
  /** Resolves after the delay; rejects with the signal's reason when that comes first. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls back after the delay, unless it is cancelled first. Each request uses it for limits that it nearly always
   * cancels.
   */
  after(milliseconds: number, callback: () => void): Cancel;
}

export type Cancel = () => void;

export interface Ids {
  /** 32 lowercase hex digits, random. */
  hex(): string;
  /**
   * 32 lowercase hex digits: the milliseconds since 1970, then 80 random bits. For the ids of rows: ids made one after
   * the other are neighbours in an index, so that a commit writes few pages.
   */
  sortable(): string;
  /** A random UUID, version 4. */
  uuid(): string;
}

/** A structured log. The program that embeds the engine decides what the fields look like. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

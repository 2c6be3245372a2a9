// The ports of the engine. Nothing else in this package reads the time, creates ids or prints.

export interface Clock {
  now(): Date;
  /** Milliseconds that only ever grow, for durations: wall time can jump. */
  elapsed(): number;
  /** Resolves after the delay; rejects with the signal's reason when that comes first. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after the delay unless cancelled first: for bounds that are nearly always cancelled, on every request. */
  after(milliseconds: number, callback: () => void): Cancel;
}

export type Cancel = () => void;

export interface Ids {
  /** 32 lowercase hex digits, random. */
  hex(): string;
  /**
   * 32 lowercase hex digits: the milliseconds since 1970, then 80 random bits. For the names of rows: those made one after the other
   * are neighbours in every index, so that a commit writes few pages.
   */
  sortable(): string;
  /** A random UUID, version 4. */
  uuid(): string;
}

/** Structured log. The engine hands over fields; what they look like on a terminal is the host's. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** One problem of a message, as data. The dialect words it. */
export interface Issue {
  /** RFC 6901 pointer to the field. A missing field is named itself, not its parent. `''` is the whole message. */
  readonly pointer: string;
  readonly code: string;
  /** Names the field, what was expected and what was received. */
  readonly message: string;
  /** The nearest fix, when there is one. */
  readonly suggestion?: string;
  /** The position in the text, for problems found before parsing. */
  readonly offset?: number;
}

/** The result of decoding: a value with warnings, or all problems. Never an exception. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly Issue[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

export function accept<T>(value: T, warnings: readonly Issue[] = NONE): Outcome<T> {
  return { ok: true, value, warnings };
}

export function reject<T>(...issues: readonly Issue[]): Outcome<T> {
  return { ok: false, issues };
}

const NONE: readonly Issue[] = [];

import { REDACTED } from '@dragoman/protocols';

/** The last lines that a program wrote to stderr, to explain why it exited. */
export class LastWords {
  readonly #lines: string[] = [];
  readonly #secrets: readonly string[];

  /** `env` has the environment variables of the program. Their values are never shown. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#secrets = Object.values(env).filter((value) => value.length >= SHORTEST_SECRET);
  }

  add(line: string): void {
    const text = line.replaceAll(CONTROLS, '').trim();
    if (text === '') return;
    this.#lines.push(text);
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
  }

  /**
   * One line: the last one that names an error, because a stack trace and, from Node, its version follow it; else the
   * last few lines. Empty if the program wrote nothing.
   */
  toString(): string {
    const named = this.#lines.findLast((line) => NAMES_ERROR.test(line));
    const text = named ?? this.#lines.slice(-FEW).join(' / ');
    return this.withoutSecrets(text).slice(0, LONGEST);
  }

  /** Replaces the values of the environment variables in a text. */
  withoutSecrets(text: string): string {
    return this.#secrets.reduce((hidden, secret) => hidden.replaceAll(secret, REDACTED), text);
  }
}

/** `Error: …`, `ValueError: …`, `java.lang.IllegalStateException: …`, `error[E1]: …`, `Uncaught Error [CODE]: …`. */
const NAMES_ERROR = /^(?:uncaught |fatal |fatal: )?[\w.$]*(?:error|exception)(?:\s?\[\w+\])?: \S/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is for
const CONTROLS = /\u001b\[[\d;]*m|[\u0000-\u001f\u007f-\u009f]/g;
/** Enough for a stack trace and the lines around it. */
const MOST_LINES = 40;
const FEW = 3;
const LONGEST = 500;
/** A shorter value could also be part of a word that is not secret. */
const SHORTEST_SECRET = 8;

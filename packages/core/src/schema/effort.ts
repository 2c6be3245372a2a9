import type { Json } from '@dragoman/protocols';
import { atMost } from '../json/json-size.ts';

/** Thrown when a check takes so long that it would block other callers. */
export class TooMuchEffort extends Error {}

/** Limits the work of checking a value against a schema. Neither of them is trusted. */
export class Effort {
  readonly #value: Json;
  #looks = SOME_LOOKS;
  #reading = MOST_READING;
  #isExtended = false;

  constructor(value: Json) {
    this.#value = value;
  }

  /** Counts work, in units of one look at a value. Throws when it is too much. */
  look(times: number): void {
    this.#looks -= times;
    if (this.#looks >= 0) return;
    if (!this.#isExtended) {
      this.#isExtended = true;
      this.#looks += atMost(this.#value, MOST_LOOKS);
      if (this.#looks >= 0) return;
    }
    throw new TooMuchEffort(
      'checking them against the schema of the tool takes too many steps; send less nested arguments, or simplify the schema',
    );
  }

  /**
   * Counts the work of matching a text with a pattern, which grows with characters times parts. Throws when it is too
   * much.
   */
  read({ length }: string, parts: number): void {
    this.#reading -= length * parts;
    if (this.#reading >= 0) return;
    const most = Math.floor(MOST_READING / Math.max(1, parts));
    throw new TooMuchEffort(
      `the patterns of the schema are matched against at most ${most} characters in one call; send shorter texts`,
    );
  }
}

/**
 * Some milliseconds of work, enough for a message of a few kilobytes; a longer one may have one more look for each
 * byte.
 */
const SOME_LOOKS = 100_000;
const MOST_LOOKS = 8 * 1024 * 1024;
/** The limit of characters times parts. */
const MOST_READING = 4 * 1024 * 1024;

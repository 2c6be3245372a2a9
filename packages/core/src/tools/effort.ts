import type { Json, Validator } from '@dragoman/protocols';
import { atMost } from '../json-size.ts';

/** A check that would keep everybody waiting. */
export class TooMuchEffort extends Error {}

/** What one check of a value against a schema may take: the schema may be a stranger's, and the value always is. */
export class Effort {
  #value: Json = null;
  /** Without end while nothing is checked: a schema is itself held against one when it is compiled. */
  #looks = Number.POSITIVE_INFINITY;
  #reading = Number.POSITIVE_INFINITY;
  #isExtended = false;
  #prepared = 0;

  /** A pattern of so many parts, when the schema is compiled. */
  prepare(parts: number): void {
    this.#prepared += parts;
    if (this.#prepared <= MOST_PREPARED) return;
    throw new Error(`with their repeats written out its patterns have more than ${MOST_PREPARED} parts in all`);
  }

  /** Throws `TooMuchEffort` rather than looking on. */
  boundTo(check: Validator): Validator {
    const validate: Validator = (value) => {
      this.#value = value as Json;
      this.#looks = SOME_LOOKS;
      this.#reading = MOST_READING;
      this.#isExtended = false;
      try {
        return check(value);
      } finally {
        this.#value = null;
        // Taken from the check, which would keep them until it is next called.
        validate.errors = check.errors ?? null;
        check.errors = null;
      }
    };
    return validate;
  }

  /** At the same place, or at one further in. */
  readonly look = (times: number): void => {
    this.#looks -= times;
    if (this.#looks >= 0) return;
    if (!this.#isExtended) {
      this.#isExtended = true;
      this.#looks += atMost(this.#value, MOST_LOOKS);
      if (this.#looks >= 0) return;
    }
    throw new TooMuchEffort(
      'the schema of the tool has them looked at over and over again; send them less nested, or have it made simpler',
    );
  };

  /** A text, for a pattern of so many parts: the engine takes time for each character and each part. */
  read({ length }: string, parts: number): void {
    this.#reading -= length * parts;
    if (this.#reading >= 0) return;
    const most = Math.floor(MOST_READING / Math.max(1, parts));
    throw new TooMuchEffort(
      `a pattern of the schema is held against at most ${most} characters in one call; send shorter texts`,
    );
  }
}

/** Some milliseconds' work, enough for any message of a few kilobytes; a longer one has another look for each byte. */
const SOME_LOOKS = 100_000;
const MOST_LOOKS = 8 * 1024 * 1024;
/** Each part takes microseconds: a fraction of a second in all. */
const MOST_PREPARED = 20_000;
/** Characters times parts: about as long as it takes to read the longest message. */
const MOST_READING = 4 * 1024 * 1024;

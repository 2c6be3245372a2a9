import { REDACTED } from '@dragoman/protocols';
import type { Redactor } from './redactor.ts';

/** A header value that holds a secret from a variable or a file. Printing it shows a marker; the gate reveals it when it sends it. */
export class SecretText {
  readonly #value: string;
  /** Finds the secrets of this value in what the host sends back. */
  readonly redactor: Redactor | undefined;

  constructor(value: string, redactor: Redactor | undefined) {
    this.#value = value;
    this.redactor = redactor;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }
}

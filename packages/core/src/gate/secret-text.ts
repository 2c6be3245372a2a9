import { REDACTED } from '@dragoman/protocols';
import type { Redactor } from './redactor.ts';

/** A header value with a secret of the configuration. Printing it shows a marker; only the gate reveals it. */
export class SecretText {
  readonly #value: string;
  /** Replaces the secrets of this value in responses. */
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

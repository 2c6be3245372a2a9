import type { OutboundHeader } from './gate.ts';
import { SecretText } from './secret-text.ts';

/** Replaces secrets in responses. It keeps no state between two bodies. */
export interface Redactor {
  text(value: string): string;
  /** Also finds a secret that spans several chunks. Holds back only bytes that may be the beginning of a secret. */
  body(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** Combines redactors; `undefined` without any. */
export function everyRedactor(some: readonly (Redactor | undefined)[]): Redactor | undefined {
  const [first, ...others] = some.filter((each) => each !== undefined);
  if (first === undefined || others.length === 0) return first;
  return {
    text: (value) => others.reduce((text, each) => each.text(text), first.text(value)),
    body: (chunks) => others.reduce((body, each) => each.body(body), first.body(chunks)),
  };
}

/** The redactor of a header value with a secret from the configuration. */
export function ownRedactor(value: OutboundHeader): Redactor | undefined {
  return value instanceof SecretText ? value.redactor : undefined;
}

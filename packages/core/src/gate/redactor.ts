import type { OutboundHeader } from './gate.ts';
import { SecretText } from './secret-text.ts';

/** Replaces secrets in responses. One for each set of secrets; it keeps no state between two bodies. */
export interface Redactor {
  text(value: string): string;
  /** Chunk by chunk, across their borders. Nothing is held back but what may be the beginning of a secret. */
  body(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** One that replaces everything each of these does; `undefined` where there is none. */
export function everyRedactor(some: readonly (Redactor | undefined)[]): Redactor | undefined {
  const [first, ...others] = some.filter((each) => each !== undefined);
  if (first === undefined || others.length === 0) return first;
  return {
    text: (value) => others.reduce((text, each) => each.text(text), first.text(value)),
    body: (chunks) => others.reduce((body, each) => each.body(body), first.body(chunks)),
  };
}

/** The one for the secret in a header, where it is the operator's own. */
export function ownRedactor(value: OutboundHeader): Redactor | undefined {
  return value instanceof SecretText ? value.redactor : undefined;
}

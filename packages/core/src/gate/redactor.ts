/** Replaces secrets in what comes back. One for each set of secrets; it keeps nothing between two bodies. */
export interface Redactor {
  text(value: string): string;
  /** Chunk by chunk, across their borders. Nothing is held back but what may be the beginning of a secret. */
  body(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

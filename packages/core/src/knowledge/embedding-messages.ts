// The messages between the embedder and its thread.

export interface ToEmbeddingThread {
  readonly id: number;
  readonly texts: readonly string[];
}

export type FromEmbeddingThread =
  | { readonly kind: 'ready' }
  /** The optional packages are not installed, or do not load. */
  | { readonly kind: 'missing'; readonly message: string }
  | { readonly kind: 'vectors'; readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };

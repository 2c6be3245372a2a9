/** Turns texts into vectors, so that texts of similar meaning get near vectors. */
export interface Embedder extends AsyncDisposable {
  /** Whether `embed` can be called now. If it cannot, the call starts the preparation. */
  isReady(): boolean;
  /** Resolves with `true` when it is ready, with `false` if it cannot be. The call starts the preparation. */
  whenReady(): Promise<boolean>;
  /** One vector of length 1 for each text, in order. If it rejects, the search uses words only. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** Called whenever it becomes ready. */
  onReady(listener: () => void): void;
}

/** The vector with the same direction and length 1. */
export function unit(vector: ArrayLike<number>): Float32Array {
  const unit = Float32Array.from(vector);
  let squares = 0;
  for (const part of unit) squares += part * part;
  const length = Math.sqrt(squares) || 1;
  return unit.map((part) => part / length);
}

/** The cosine similarity of two vectors of length 1, from -1 to 1. */
export function nearness(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

/** Turns texts into vectors whose nearness is nearness of meaning. */
export interface Embedder extends AsyncDisposable {
  /**
   * Whether it would answer soon. Asking makes it get ready, so that a first search costs the next one nothing; one that
   * cannot get ready stays unready.
   */
  isReady(): boolean;
  /** Resolves with `true` when it is ready, with `false` if that is impossible. The call starts the preparation. */
  whenReady(): Promise<boolean>;
  /** One vector of length 1 for each text, in order. If it rejects, the search uses words only. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** Called whenever it becomes ready. */
  onReady(listener: () => void): void;
}

/** The same direction, of length 1. */
export function unit(vector: ArrayLike<number>): Float32Array {
  const unit = Float32Array.from(vector);
  let squares = 0;
  for (const part of unit) squares += part * part;
  const length = Math.sqrt(squares) || 1;
  return unit.map((part) => part / length);
}

/** How near two vectors of length 1 are, from -1 to 1. */
export function nearness(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

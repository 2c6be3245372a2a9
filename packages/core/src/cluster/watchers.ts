import type { Words } from './words.ts';

export interface WatchersOptions {
  readonly words: Words;
  /** Of a request that is answered here, the sequence of the next frame that is not on the disk. */
  readonly durableHere: (request: number) => number | undefined;
}

/** The other nodes that read answers of this one. */
export class Watchers {
  readonly #words: Words;
  readonly #watching = new Map<number, Set<number>>();

  constructor({ words, durableHere }: WatchersOptions) {
    this.#words = words;
    words.hear('watch', (rest) => {
      const [request = 0, node = 0] = rest.map(Number);
      const next = durableHere(request);
      // It ended meanwhile, or was never here: the other node checks the store itself.
      if (next === undefined) return;
      const nodes = this.#watching.get(request) ?? new Set();
      this.#watching.set(request, nodes.add(node));
      this.#words.send(node, 'frames', request, next);
    });
    words.hear('unwatch', (rest) => {
      const [request = 0, node = 0] = rest.map(Number);
      const nodes = this.#watching.get(request);
      nodes?.delete(node);
      if (nodes?.size === 0) this.#watching.delete(request);
    });
  }

  landed(request: number, next: number, isOver: boolean): void {
    const nodes = this.#watching.get(request);
    if (nodes === undefined) return;
    if (isOver) this.#watching.delete(request);
    for (const node of nodes) this.#words.send(node, 'frames', request, isOver ? 'end' : next);
  }

  /** Those that are not answered here any more. */
  forget(): void {
    this.#watching.clear();
  }
}

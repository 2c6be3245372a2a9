import { type Embedder, unit } from '../src/knowledge/embedder.ts';

/** An encoder that knows a few topics: one number for each, counted by the words that belong to it. */
export class TopicEmbedder implements Embedder {
  /** Every text that was embedded, in order. */
  readonly embedded: string[] = [];
  ready = true;
  fails = false;
  readonly #topics: readonly RegExp[];
  readonly #listeners: (() => void)[] = [];

  constructor(...topics: readonly RegExp[]) {
    this.#topics = topics;
  }

  isReady(): boolean {
    return this.ready;
  }

  async whenReady(): Promise<boolean> {
    if (!this.ready) await new Promise<void>((resolve) => this.onReady(resolve));
    return true;
  }

  onReady(listener: () => void): void {
    this.#listeners.push(listener);
  }

  becomeReady(): void {
    this.ready = true;
    for (const listener of this.#listeners) listener();
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    if (this.fails) throw new Error('out of order');
    this.embedded.push(...texts);
    return texts.map((text) => unit([0.1, ...this.#topics.map((topic) => (topic.test(text) ? 1 : 0))]));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

import type { Json } from '@dragoman/protocols';
import type { Cancel, Clock, Log } from '../ports/ports.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { Words } from './words.ts';

export interface NodeCallsOptions {
  readonly store: Pick<ClusterStore, 'node' | 'others' | 'addCall' | 'takeCalls' | 'answerCall' | 'takeAnswers'>;
  readonly words: Words;
  readonly clock: Clock;
  readonly log: Log;
}

/** Calls between nodes: each is a row that the other node answers. A call has no effect twice: its row is taken once. */
export class NodeCalls {
  readonly #options: NodeCallsOptions;
  readonly #methods = new Map<string, (params: Json) => Promise<Json>>();
  readonly #pending = new Map<number, (answer: Json | undefined) => void>();

  constructor(options: NodeCallsOptions) {
    this.#options = options;
    const logged = (error: unknown) => options.log.debug({ error: String(error) }, 'calls of other nodes wait');
    options.words.hear('call', () => void this.#answer().catch(logged));
    options.words.hear('answer', () => void this.#collect().catch(logged));
  }

  /** Adds a method that other nodes can call. */
  serve(method: string, answer: (params: Json) => Promise<Json>): void {
    this.#methods.set(method, answer);
  }

  /** `undefined` when the other node does not answer in time, or not at all. */
  async ask(node: number, method: string, params: Json): Promise<Json | undefined> {
    const { store, words, clock } = this.#options;
    const id = await store.addCall(node, JSON.stringify({ method, params }));
    let cancel: Cancel = () => {};
    const answered = new Promise<Json | undefined>((resolve) => {
      this.#pending.set(id, resolve);
      cancel = clock.after(PATIENCE_MS, () => resolve(undefined));
    });
    words.send(node, 'call');
    return answered.finally(() => {
      cancel();
      this.#pending.delete(id);
    });
  }

  /** The answers of all other nodes, in no order. */
  async askOthers(method: string, params: Json): Promise<(Json | undefined)[]> {
    return Promise.all((await this.#options.store.others()).map((node) => this.ask(node, method, params)));
  }

  /** Checks the store: words may be lost. */
  async look(): Promise<void> {
    await this.#answer();
    await this.#collect();
  }

  async #answer(): Promise<void> {
    const { store, words, log } = this.#options;
    for (const { id, caller, text } of await store.takeCalls()) {
      const { method, params } = JSON.parse(text) as { method: string; params: Json };
      const answering = this.#methods.get(method)?.(params) ?? Promise.resolve(null);
      // A slow call must not delay the others.
      void answering
        .catch((error) => {
          log.warn({ method, error: String(error) }, 'the call of another node failed');
          return null;
        })
        .then((answer) => store.answerCall(id, JSON.stringify(answer)))
        .then(() => words.send(caller, 'answer'))
        .catch((error) => log.debug({ method, error: String(error) }, 'another node gets no answer'));
    }
  }

  async #collect(): Promise<void> {
    if (this.#pending.size === 0) return;
    for (const { id, text } of await this.#options.store.takeAnswers([...this.#pending.keys()])) {
      this.#pending.get(id)?.(JSON.parse(text));
    }
  }
}

const PATIENCE_MS = 5_000;

import type { Log } from '../ports/ports.ts';
import type { ClusterStore, NodeWord } from '../store/cluster.ts';

/**
 * Short words from node to node, many at a time. A word is a hint to look into the database. Words may be lost, since a node also looks
 * with each beat.
 */
export class Words {
  readonly #store: Pick<ClusterStore, 'send' | 'onWord'>;
  readonly #log: Log;
  readonly #hearers = new Map<string, (rest: readonly string[]) => void>();
  #waiting: NodeWord[] = [];
  #isSending = false;

  constructor({ store, log }: { readonly store: Pick<ClusterStore, 'send' | 'onWord'>; readonly log: Log }) {
    this.#store = store;
    this.#log = log;
    store.onWord = (text) => {
      const [first = '', ...rest] = text.split(' ');
      this.#hearers.get(first)?.(rest);
    };
  }

  /** Calls back with the rest of each word that begins with this. */
  hear(first: string, hearer: (rest: readonly string[]) => void): void {
    this.#hearers.set(first, hearer);
  }

  send(node: number, ...text: readonly (string | number)[]): void {
    this.#waiting.push({ node, text: text.join(' ') });
    if (this.#isSending) return;
    this.#isSending = true;
    void this.#send();
  }

  async #send(): Promise<void> {
    // Collects all words of this turn of the event loop.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const words = this.#waiting;
      this.#waiting = [];
      await this.#store.send(words).catch((error) => {
        this.#log.debug({ error: String(error) }, 'words to other nodes were lost');
      });
    }
    this.#isSending = false;
  }
}

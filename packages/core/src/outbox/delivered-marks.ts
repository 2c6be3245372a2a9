import type { OutboxStore } from '../store/store.ts';

/**
 * Marks callbacks as delivered, in batches: a mark waits a few turns of the event loop for others, so that they share a
 * commit. A callback whose mark is lost in a crash is sent once more.
 */
export class DeliveredMarks {
  readonly #store: Pick<OutboxStore, 'delivered'>;
  #waiting: Mark[] = [];
  #turns = 0;

  constructor(store: Pick<OutboxStore, 'delivered'>) {
    this.#store = store;
  }

  /** Resolves when the mark is on the disk. */
  add(id: string, at: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, at, resolve, reject });
      if (this.#waiting.length === MANY) this.#write();
      else if (this.#waiting.length === 1) {
        this.#turns = TURNS;
        setImmediate(this.#turn);
      }
    });
  }

  readonly #turn = (): void => {
    if (this.#waiting.length === 0) return;
    this.#turns -= 1;
    if (this.#turns > 0) setImmediate(this.#turn);
    else this.#write();
  };

  #write(): void {
    const marks = this.#waiting;
    this.#waiting = [];
    const [ids, latest] = [marks.map(({ id }) => id), Math.max(...marks.map(({ at }) => at))];
    this.#store.delivered(ids, latest).then(
      () => {
        for (const { resolve } of marks) resolve();
      },
      () => {
        // A mark that cannot be written must not fail the others.
        for (const { id, at, resolve, reject } of marks) this.#store.delivered([id], at).then(resolve, reject);
      },
    );
  }
}

interface Mark {
  readonly id: string;
  readonly at: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const TURNS = 8;
const MANY = 32;

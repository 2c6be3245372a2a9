import type { Ids } from '../src/ports/ports.ts';

/** Ids that count: the same in every run. */
export class TestIds implements Ids {
  #count = 0;

  hex(): string {
    return (++this.#count).toString(16).padStart(32, '0');
  }

  sortable(): string {
    return this.hex();
  }

  uuid(): string {
    return `00000000-0000-4000-8000-${(++this.#count).toString(16).padStart(12, '0')}`;
  }
}

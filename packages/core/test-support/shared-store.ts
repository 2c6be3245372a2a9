import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Store } from '../src/store/store.ts';
import { rememberingHolds } from './held-runs.ts';

/** Opens a fresh, empty store; or closes the one given and opens its data again, as the next process would. */
export type OpenStore = (earlier?: Store) => Promise<Store>;

/** The actions of a suite on its store. */
export interface SharedStore {
  /** Call it in the `describe` of a test that looks at everything in a store: each test there has its own store. */
  (): void;
  /** Closes the store of the test that runs, and opens its data again. */
  restart(): Promise<void>;
}

/** One store for many tests, where each has its own owner: `use` is called with both before each test. */
export function sharedStore(open: OpenStore, use: (store: Store, owner: string) => void): SharedStore {
  let shared: Store;
  let own: Store | undefined;
  let owner = '';
  let tests = 0;

  beforeAll(async () => {
    shared = rememberingHolds(await open());
  });

  afterAll(() => shared[Symbol.asyncDispose]());

  beforeEach(() => {
    tests += 1;
    owner = `ann-${tests}`;
    use(shared, owner);
  });

  function fresh(): void {
    beforeEach(async () => {
      own = rememberingHolds(await open());
      use(own, owner);
    });

    afterEach(async () => {
      await own?.[Symbol.asyncDispose]();
      own = undefined;
    });
  }

  async function restart(): Promise<void> {
    const store = rememberingHolds(await open(own ?? shared));
    if (own === undefined) shared = store;
    else own = store;
    use(store, owner);
  }

  return Object.assign(fresh, { restart });
}

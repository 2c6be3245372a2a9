import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Store } from '../src/store/store.ts';

/**
 * One store for many tests, where each has an owner of its own: `use` is told both before each test. A test that looks at
 * everything in a store needs a fresh one; in its `describe`, call what this returns.
 */
export function sharedStore(open: () => Promise<Store>, use: (store: Store, owner: string) => void): () => void {
  let shared: Store;
  let owner = '';
  let tests = 0;

  beforeAll(async () => {
    shared = await open();
  });

  afterAll(() => shared[Symbol.asyncDispose]());

  beforeEach(() => {
    tests += 1;
    owner = `ann-${tests}`;
    use(shared, owner);
  });

  return function fresh() {
    let own: Store;

    beforeEach(async () => {
      own = await open();
      use(own, owner);
    });

    afterEach(() => own[Symbol.asyncDispose]());
  };
}

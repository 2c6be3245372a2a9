import { expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { openMemoryStore } from './memory-store.ts';
import { requestRow } from './requests.contract.ts';
import { describeStore } from './store.contract.ts';

describeStore('the store in memory', async (earlier) => (earlier === undefined ? memoryStore() : nextProcess(earlier)));

test('a closed store in memory refuses calls, and may be closed again', async () => {
  const store = await openMemoryStore();
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  await expect(store.requests.accept(requestRow())).rejects.toMatchObject({ code: 'store_unavailable' });
});

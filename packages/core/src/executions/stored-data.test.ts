import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { heldOf, rememberingHolds } from '../../test-support/held-runs.ts';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { failureOf } from '../refusals/refused.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { StoreError } from '../store/store-error.ts';
import type { StoreWrite } from '../workflow/effects.ts';
import { FileStorage } from './file-storage.ts';
import { StoredData } from './stored-data.ts';

let folder: string;
let data: StoredData;
let store: SqliteStore;
let position = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-stored-'));
  store = rememberingHolds(memoryStore());
  const row = { owner: 'ann', executionId: 'e1', digest: 'd', idempotencyKey: null, request: '{}' };
  await store.executions.accept({ ...row, acceptedAt: 1, end: null });
  data = new StoredData({
    store: store.storedData,
    files: new FileStorage({ root: folder }),
    clock: new TestClock(),
    ids: new TestIds(),
    quota: { bytes: 100, count: 3 },
  });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function keep(
  key: string,
  text: string,
  storage: StoreWrite['storage'] = 'localStorage',
  carries: StoreWrite['carries'] = [],
): Promise<void> {
  const write = { operationId: 'keep', storage, key, json: new TextEncoder().encode(text), carries };
  const effect = { position: position++, key: `keep#${position}`, kind: 'store' as const, note: '{}', bytes: null };
  return data.keep(write, {
    owner: 'ann',
    by: { held: heldOf(store, { owner: 'ann', executionId: 'e1' }), effects: [effect] },
  });
}

const read = async (key: string, owner = 'ann') => {
  const stored = await data.read(owner, key);
  return stored === undefined ? undefined : JSON.parse(new TextDecoder().decode(stored.bytes));
};

const filesThere = () => readdirSync(folder).flatMap((own) => readdirSync(join(folder, own)));

test('without a folder, what is kept in a file is in the store, and a file of another server is refused', async () => {
  const options = {
    store: store.storedData,
    clock: new TestClock(),
    ids: new TestIds(),
    quota: { bytes: 100, count: 3 },
  };
  await keep('old', '1', 'file');
  data = new StoredData(options);
  await keep('k', '{"a":1}', 'file');
  expect(await read('k')).toEqual({ a: 1 });
  expect(await store.storedData.find('ann', 'k')).toMatchObject({ value: '{"a":1}', file: null });
  await expect(read('old')).rejects.toMatchObject({ code: 'store_damaged' });
  await keep('old', '2', 'file');
  expect(await read('old')).toBe(2);
  expect(await data.remove('ann', 'k')).toBe(true);
});

test.each(['localStorage', 'file'] as const)('what is kept in %s is read back by its owner alone', async (storage) => {
  await keep('k', '{"a":[1,"é"]}', storage);
  expect(await read('k')).toEqual({ a: [1, 'é'] });
  expect(await read('k', 'bob')).toBeUndefined();
  expect(await data.names('ann')).toEqual(['k']);
});

test.each(['localStorage', 'file'] as const)('what is kept in %s keeps where it may go', async (storage) => {
  const labels = [{ from: 'a.example', to: ['a.example', 'b.example:8443'] }];
  await keep('k', '1', storage, labels);
  expect((await data.read('ann', 'k'))?.labels).toEqual(labels);
  await keep('k', '2', storage);
  expect((await data.read('ann', 'k'))?.labels).toEqual([]);
});

test('one key holds one thing, wherever it is kept, and the file it replaces is gone', async () => {
  await keep('k', '1', 'file');
  await keep('k', '2', 'file');
  expect([await read('k'), filesThere().length]).toEqual([2, 1]);
  await keep('k', '3');
  expect([await read('k'), filesThere().length]).toEqual([3, 0]);
});

test('over the quota nothing is kept, nothing replaced and no file left behind', async () => {
  await keep('a', JSON.stringify('x'.repeat(60)));
  for (const storage of ['localStorage', 'file'] as const) {
    const refused = await keep('b', JSON.stringify('x'.repeat(60)), storage).catch(failureOf);
    expect(refused).toMatchObject({ code: 'too_large', retryable: false });
    expect(await keep('c', JSON.stringify('x'.repeat(200)), storage).catch(failureOf)).toMatchObject({
      code: 'too_large',
    });
  }
  await keep('b', '1');
  await keep('c', '1');
  expect((await keep('d', '1').catch(failureOf))?.message).toContain('3 keys');
  expect(await data.names('ann')).toEqual(['a', 'b', 'c']);
  expect(filesThere()).toEqual([]);
});

test('a key no database would keep as it is, is refused', async () => {
  for (const key of ['a\0b', '\ud800'])
    expect(await keep(key, '1').catch(failureOf)).toMatchObject({ code: 'invalid_message' });
});

test('a file whose row cannot be recorded for now is removed, and kept by the next try', async () => {
  const refusing = store.storedData.keep.bind(store.storedData);
  let isFull = true;
  store.storedData.keep = async (...parameters) => {
    if (isFull) throw new StoreError('store_unavailable', 'The disk is full.');
    return refusing(...parameters);
  };
  await expect(keep('k', '1', 'file')).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).includes('-'))).toEqual([]);
  isFull = false;
  await keep('k', '1', 'file');
  expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).includes('-'))).toHaveLength(1);
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CredentialRow, ReceiptRow, VaultSeal } from './credentials.ts';
import type { Store } from './store.ts';

/** The contract of every store for the vault. `open` returns a fresh, empty one. */
export function describeCredentialStore(name: string, open: () => Promise<Store>): void {
  describe(`${name}: credentials`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store[Symbol.asyncDispose]());

    test('there is no seal before the first', async () => {
      expect(await store.credentials.seal()).toBeUndefined();
      expect(await store.credentials.list()).toEqual([]);
    });

    test('rows come back field by field, by id, with the newest seal', async () => {
      await store.credentials.put([row({ credentialId: 'b' })], seal('1'), null);
      await store.credentials.put([row({ credentialId: 'a', description: 'für alle' })], seal('2'), '1');
      expect(await store.credentials.list()).toEqual([
        row({ credentialId: 'a', description: 'für alle' }),
        row({ credentialId: 'b' }),
      ]);
      expect(await store.credentials.seal()).toEqual(seal('2'));
    });

    test('a row of the same id is replaced whole', async () => {
      await store.credentials.put([row()], seal('1'), null);
      const next = row({ version: 2, type: 'password', hosts: '[]', places: '["body"]', nonce: 'n2', sealed: 's2' });
      await store.credentials.put([next], seal('2'), '1');
      expect(await store.credentials.list()).toEqual([next]);
    });

    test('a removed row is gone, and the seal is the new one', async () => {
      await store.credentials.put([row({ credentialId: 'a' }), row({ credentialId: 'b' })], seal('1'), null);
      await store.credentials.remove('a', seal('2'), '1');
      expect((await store.credentials.list()).map(({ credentialId }) => credentialId)).toEqual(['b']);
      expect(await store.credentials.seal()).toEqual(seal('2'));
    });

    test('when one row cannot be kept, none is, and the seal stays', async () => {
      await store.credentials.put([row({ credentialId: 'a' })], seal('1'), null);
      const bad = row({ credentialId: 'b', description: 'a\0b' });
      await expect(store.credentials.put([row({ credentialId: 'c' }), bad], seal('2'), '1')).rejects.toThrow('NUL');
      expect((await store.credentials.list()).map(({ credentialId }) => credentialId)).toEqual(['a']);
      expect(await store.credentials.seal()).toEqual(seal('1'));
    });

    test('a seal takes the place of the one that was read, and of no other', async () => {
      expect(await store.credentials.put([row()], seal('2'), '1')).toBe(false);
      expect(await store.credentials.put([row()], seal('1'), null)).toBe(true);
      expect(await store.credentials.put([row({ credentialId: 'b' })], seal('2'), null)).toBe(false);
      expect(await store.credentials.put([row({ credentialId: 'b' })], seal('3'), '2')).toBe(false);
      expect(await store.credentials.remove('a', seal('3'), '2')).toBe(false);
      expect(await store.credentials.list()).toEqual([row()]);
      expect(await store.credentials.seal()).toEqual(seal('1'));
    });

    test('receipts come back newest first, of one credential, and old ones can be forgotten', async () => {
      const rows = [1, 2, 3].map((at) => receipt({ at, purpose: at === 2 ? null : `request ${at}` }));
      await store.credentials.addReceipts([...rows, receipt({ credentialId: 'other' })]);
      expect(await store.credentials.receipts('a', 2)).toEqual([rows[2], rows[1]]);
      await store.credentials.purgeReceipts(3);
      expect(await store.credentials.receipts('a', 9)).toEqual([rows[2]]);
    });
  });
}

function row(fields: Partial<CredentialRow> = {}): CredentialRow {
  return {
    credentialId: 'a',
    version: 1,
    type: 'api-key',
    hosts: '["api.example.com"]',
    places: '["header"]',
    description: null,
    nonce: 'n',
    sealed: 's',
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_001,
    ...fields,
  };
}

function seal(mac: string): VaultSeal {
  return { salt: 'salt', keyCheck: 'check', manifest: '{}', mac };
}

function receipt(fields: Partial<ReceiptRow> = {}): ReceiptRow {
  return {
    at: 9,
    caller: 'ada',
    credentialId: 'a',
    version: 1,
    host: 'api.example.com',
    purpose: null,
    outcome: 'released',
    ...fields,
  };
}

import { describe, expect, test } from 'vitest';
import { heldOf } from '../../test-support/held-runs.ts';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import { longBetween, SLICE, sharedBytes, stringOf } from '../text/long-text.ts';
import type { EffectRow, ExecutionEnd, ExecutionPageQuery, ExecutionRow, StoredRow } from './executions.ts';
import type { Store } from './store.ts';

/** The contract of every store for executions and stored data. `open` returns a fresh, empty one. */
export function describeExecutions(name: string, open: OpenStore): void {
  describe(`executions in ${name}`, () => {
    let store: Store;
    let owner = '';
    const fresh = sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });

    const execution = (fields: Partial<ExecutionRow> = {}): ExecutionRow => executionRow({ owner, ...fields });
    const stored = (fields: Partial<StoredRow> = {}): StoredRow => storedRow({ owner, ...fields });

    describe('accepting', () => {
      test('one that has ended already is recorded with its end, once, and never under way', async () => {
        const row = { ...execution(), end: END };
        expect(await store.executions.accept(row)).toMatchObject({ repeat: false });
        expect(await store.executions.find(row)).toEqual(row);
        expect(await store.executions.list(owner, { ...ALL, status: 'running' })).toEqual([]);
        expect(await store.executions.accept({ ...row, end: null })).toEqual({ repeat: true, row });
        await expect(store.executions.finish(heldOf(store, row), [], END)).rejects.toMatchObject({ code: 'not_held' });
      });

      test.each([
        ['few', 1],
        ['many', SLICE],
      ])('a result in %s bytes that threads share is given back as the same text', async (name, times) => {
        const text = `{"é":"${'€😀'.repeat(times)}"}`;
        const end = { ...END, result: longBetween('["<",', sharedBytes(text), ',"é"]') };
        const atOnce = { ...execution({ executionId: `${name}-at-once` }), end };
        const later = execution({ executionId: `${name}-later` });
        await store.executions.accept(atOnce);
        await store.executions.accept(later);
        await store.executions.finish(heldOf(store, later), [], end);
        for (const row of [atOnce, later]) {
          const found = (await store.executions.find(row))?.end;
          expect(found).toMatchObject({ status: END.status, events: END.events, endedAt: END.endedAt });
          expect((await stringOf(found?.result ?? '')) === `["<",${text},"é"]`).toBe(true);
        }
      });

      test('what was accepted is found, field by field, and under way', async () => {
        const row = execution({ idempotencyKey: 'k', request: '{"workflow":"é\\u0000"}' });
        expect(await store.executions.accept(row)).toMatchObject({ repeat: false });
        expect(await store.executions.find(row)).toEqual(row);
      });

      test('the same id again is a repeat and gives the first row with its end', async () => {
        const row = execution();
        await store.executions.accept(row);
        expect(await store.executions.accept({ ...row, digest: 'other' })).toEqual({ repeat: true, row });
        await store.executions.finish(heldOf(store, row), [], END);
        expect(await store.executions.accept(row)).toEqual({ repeat: true, row: { ...row, end: END } });
      });

      test("by its id alone everybody's execution is found, newest first", async () => {
        const mine = execution({ executionId: 'by-name' });
        const theirs = execution({ owner: 'zoe', executionId: 'by-name' });
        await store.executions.accept(mine);
        await store.executions.accept(theirs);
        await store.executions.accept(execution({ executionId: 'other' }));
        await store.executions.finish(heldOf(store, mine), [], END);
        expect(await store.executions.named('by-name')).toEqual([theirs, { ...mine, end: END }]);
        expect(await store.executions.named('unknown')).toEqual([]);
      });

      test('the same idempotency key under another id is a repeat of the first; the id counts more', async () => {
        const first = execution({ executionId: 'e1', idempotencyKey: 'k' });
        const other = execution({ executionId: 'e2' });
        await store.executions.accept(first);
        await store.executions.accept(other);
        const byKey = execution({ executionId: 'e3', idempotencyKey: 'k' });
        expect(await store.executions.accept(byKey)).toEqual({ repeat: true, row: first });
        expect(await store.executions.accept({ ...other, idempotencyKey: 'k' })).toEqual({ repeat: true, row: other });
      });

      test('two owners with the same id have two executions, and neither sees the other', async () => {
        const mine = execution();
        const theirs = execution({ owner: `${owner}-other`, digest: 'theirs' });
        expect(await Promise.all([store.executions.accept(mine), store.executions.accept(theirs)])).toMatchObject([
          { repeat: false },
          { repeat: false },
        ]);
        expect(await store.executions.find(mine)).toEqual(mine);
        expect(await store.executions.find(theirs)).toEqual(theirs);
        expect(await store.executions.list(owner, ALL)).toMatchObject([{ owner }]);
      });

      test('of many that ask the same at once, one is the first', async () => {
        const answers = await Promise.all(Array.from({ length: 40 }, () => store.executions.accept(execution())));
        expect(answers.filter(({ repeat }) => !repeat)).toHaveLength(1);
      });
    });

    describe('effects', () => {
      test('come back in order, byte for byte', async () => {
        const row = execution();
        await store.executions.accept(row);
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
        const effects = [effect(0, { kind: 'intent' }), effect(1, { bytes }), effect(2, { bytes: new Uint8Array(0) })];
        await store.executions.append(heldOf(store, row), effects.slice(0, 1));
        await store.executions.append(heldOf(store, row), effects.slice(1));
        const read = await store.executions.effects(row);
        expect(read.map((one) => ({ ...one, bytes: one.bytes && [...one.bytes] }))).toEqual(
          effects.map((one) => ({ ...one, bytes: one.bytes && [...one.bytes] })),
        );
      });

      test('a taken position is refused, with all effects of the same call', async () => {
        const row = execution();
        await store.executions.accept(row);
        await store.executions.append(heldOf(store, row), [effect(0)]);
        await expect(store.executions.append(heldOf(store, row), [effect(1), effect(0)])).rejects.toThrow();
        expect(await store.executions.effects(row)).toHaveLength(1);
      });

      test('an execution that was never accepted, or has ended, takes none', async () => {
        const row = execution();
        await expect(store.executions.append(heldOf(store, row), [effect(0)])).rejects.toMatchObject({
          code: 'not_held',
        });
        await store.executions.accept(row);
        await store.executions.finish(heldOf(store, row), [effect(0)], END);
        await expect(store.executions.append(heldOf(store, row), [effect(1)])).rejects.toMatchObject({
          code: 'not_held',
        });
        await expect(store.executions.finish(heldOf(store, row), [], END)).rejects.toMatchObject({ code: 'not_held' });
        expect(await store.executions.effects(row)).toHaveLength(1);
      });
    });

    describe('the list', () => {
      test('is newest first, by pages, and by status', async () => {
        for (const id of ['e1', 'e2', 'e3']) await store.executions.accept(execution({ executionId: id }));
        await store.executions.finish(heldOf(store, execution({ executionId: 'e2' })), [], END);
        const idsOf = async (page: Partial<ExecutionPageQuery>) =>
          (await store.executions.list(owner, { ...ALL, ...page })).map(({ executionId }) => executionId);
        expect(await idsOf({})).toEqual(['e3', 'e2', 'e1']);
        expect(await idsOf({ status: 'running' })).toEqual(['e3', 'e1']);
        expect(await idsOf({ status: 'success' })).toEqual(['e2']);
        const [first] = await store.executions.list(owner, { ...ALL, limit: 1 });
        expect(await idsOf({ before: first?.number ?? 0 })).toEqual(['e2', 'e1']);
        expect(await store.executions.list(owner, { ...ALL, status: 'success' })).toMatchObject([
          { status: 'success', acceptedAt: 1000, endedAt: 2000 },
        ]);
      });

      test('of one status is by pages and newest first too, whatever their ids', async () => {
        for (const id of ['m', 'z', 'a', 'k'])
          await store.executions.accept({ ...execution({ executionId: id }), end: END });
        const page = { ...ALL, limit: 2, status: 'success' };
        const newest = await store.executions.list(owner, page);
        const older = await store.executions.list(owner, { ...page, before: newest.at(-1)?.number ?? 0 });
        expect([newest, older].map((rows) => rows.map(({ executionId }) => executionId))).toEqual([
          ['k', 'a'],
          ['z', 'm'],
        ]);
      });
    });

    describe('a restart', () => {
      fresh();

      test('claims what is under way once, oldest first, and the earlier hold is refused', async () => {
        for (const id of ['e1', 'e2', 'e3']) await store.executions.accept(execution({ executionId: id }));
        await store.executions.finish(heldOf(store, execution({ executionId: 'e2' })), [], END);
        const held = heldOf(store, execution());
        expect(await store.executions.claim(10)).toEqual([]);
        await fresh.restart();
        const open = [...(await store.executions.claim(1)), ...(await store.executions.claim(10))];
        expect(open.map(({ row }) => row.executionId)).toEqual(['e1', 'e3']);
        expect(await store.executions.claim(10)).toEqual([]);
        const claimed = open[0]?.held ?? held;
        await store.executions.append(claimed, [effect(0)]);
        const late = { code: 'not_held' };
        await expect(store.executions.append(held, [effect(1)])).rejects.toMatchObject(late);
        await expect(store.executions.finish(held, [], END)).rejects.toMatchObject(late);
        const effects = [effect(1, { kind: 'store' })];
        await expect(store.storedData.keep(stored(), QUOTA, { held, effects })).rejects.toMatchObject(late);
        expect(await store.storedData.names(owner)).toEqual([]);
        await store.executions.finish(claimed, effects, END);
        expect(await store.executions.effects(execution())).toHaveLength(2);
      });
    });

    describe('purging', () => {
      fresh();

      test('forgets what ended before then, with its effects, and keeps the rest', async () => {
        for (const [id, endedAt] of Object.entries({ old: 2000, young: 5000 })) {
          const row = execution({ executionId: id, idempotencyKey: id });
          await store.executions.accept(row);
          await store.executions.finish(heldOf(store, row), [effect(0)], { ...END, endedAt });
        }
        await store.executions.accept(execution({ executionId: 'running' }));
        expect(await store.executions.purge(3000)).toBe(1);
        const left = await store.executions.list(owner, ALL);
        expect(left.map(({ executionId }) => executionId)).toEqual(['running', 'young']);
        expect(await store.executions.effects(execution({ executionId: 'old' }))).toEqual([]);
        const again = execution({ executionId: 'another', idempotencyKey: 'old' });
        expect(await store.executions.accept(again)).toMatchObject({ repeat: false });
      });
    });

    describe('stored data', () => {
      const by = (position = 0) => ({
        held: heldOf(store, execution()),
        effects: [effect(position, { kind: 'store' as const })],
      });

      test('is kept together with the effect that recorded it', async () => {
        await store.executions.accept(execution());
        const row = stored({ value: '{"a":[1]}', bytes: 9 });
        expect(await store.storedData.keep(row, QUOTA, by())).toEqual({ kept: true, replaced: null });
        expect(await store.storedData.find(owner, 'n')).toEqual(row);
        expect(await store.executions.effects(execution())).toHaveLength(1);
        expect(await store.storedData.names(owner)).toEqual(['n']);
        expect(await store.storedData.find(`${owner}-other`, 'n')).toBeUndefined();
        expect(await store.storedData.names(`${owner}-other`)).toEqual([]);
      });

      test('returns the replaced value, and no longer counts it', async () => {
        await store.executions.accept(execution());
        const first = stored({ value: null, file: `${owner}-f1`, bytes: 90 });
        await store.storedData.keep(first, QUOTA, by(0));
        expect(await store.storedData.files()).toContain(`${owner}-f1`);
        const second = stored({ value: '"second"', bytes: 95 });
        expect(await store.storedData.keep(second, QUOTA, by(1))).toEqual({ kept: true, replaced: first });
        expect(await store.storedData.files()).not.toContain(`${owner}-f1`);
      });

      test('lists and deletes data of its owner only', async () => {
        await store.executions.accept(execution());
        const row = stored({ bytes: 60 });
        await store.storedData.keep(row, QUOTA, by());
        expect(await store.storedData.list(owner)).toEqual([{ name: 'n', bytes: 60, updatedAt: row.updatedAt }]);
        expect(await store.storedData.remove(`${owner}-other`, 'n')).toBeNull();
        expect(await store.storedData.remove(owner, 'n')).toEqual(row);
        expect(await store.storedData.remove(owner, 'n')).toBeNull();
        expect(await store.storedData.list(owner)).toEqual([]);
      });

      test('over the quota nothing is kept and nothing recorded', async () => {
        await store.executions.accept(execution());
        await store.storedData.keep(stored({ bytes: 60 }), QUOTA, by(0));
        const large = await store.storedData.keep(stored({ name: 'm', bytes: 41 }), QUOTA, by(1));
        expect(large).toEqual({ kept: false, bytes: 101, count: 2 });
        await store.storedData.keep(stored({ name: 'm', bytes: 1 }), QUOTA, by(1));
        expect(await store.storedData.keep(stored({ name: 'o', bytes: 1 }), QUOTA, by(2))).toEqual({
          kept: false,
          bytes: 62,
          count: 3,
        });
        expect(await store.storedData.names(owner)).toEqual(['m', 'n']);
        expect(await store.executions.effects(execution())).toHaveLength(2);
      });
    });
  });
}

export function executionRow(fields: Partial<ExecutionRow> = {}): ExecutionRow {
  return {
    owner: 'ann',
    executionId: 'e1',
    digest: 'd',
    idempotencyKey: null,
    request: '{}',
    acceptedAt: 1000,
    end: null,
    ...fields,
  };
}

export function storedRow(fields: Partial<StoredRow> = {}): StoredRow {
  return { owner: 'ann', name: 'n', value: 'null', file: null, bytes: 4, labels: null, updatedAt: 1000, ...fields };
}

export function effect(position: number, fields: Partial<EffectRow> = {}): EffectRow {
  return { position, key: `call[${position}]`, kind: 'call', note: '{"status":200}', bytes: null, ...fields };
}

export const END: ExecutionEnd = { status: 'success', result: '{"results":{}}', events: '[]', endedAt: 2000 };
const ALL: ExecutionPageQuery = { before: Number.MAX_SAFE_INTEGER, limit: 100, status: null };
const QUOTA = { bytes: 100, count: 2 };

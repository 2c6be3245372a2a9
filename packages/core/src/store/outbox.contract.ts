import { describe, expect, test } from 'vitest';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import type { DeliveryRow, NewDelivery, Store } from './store.ts';

/** The contract of every store for the outbox. `open` returns a fresh, empty one. */
export function describeOutbox(name: string, open: OpenStore): void {
  describe(`the outbox of ${name}`, () => {
    let store: Store;
    let owner = '';
    const shared = sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });

    const delivery = (fields: Partial<NewDelivery> = {}): NewDelivery => ({
      id: `cb-${owner}`,
      owner,
      requestId: 'msg_1',
      messageId: 'msg_2',
      url: 'https://one.example/in',
      body: '{"x":"é"}',
      priority: 1,
      expiresAt: null,
      createdAt: 1000,
      ...fields,
    });
    const fresh = (row: NewDelivery): DeliveryRow => ({
      ...row,
      state: 'due',
      attempts: 0,
      nextAt: row.createdAt,
      failures: [],
      endedAt: null,
    });
    const dueOf = async () => {
      const { rows } = await store.outbox.list({ state: 'due', limit: 1000 });
      return rows.filter((row) => row.owner === owner).map(({ id }) => id);
    };

    test('what was put in is due, field by field', async () => {
      const row = delivery({ expiresAt: 5000, priority: 0 });
      await store.outbox.add(row);
      expect(await store.outbox.find(row.id)).toEqual(fresh(row));
      const { body, createdAt, ...rest } = row;
      expect(await store.outbox.dueBody(row.id)).toBe(body);
      expect((await store.outbox.claim(1000)).filter((one) => one.owner === owner)).toEqual([]);
      await shared.restart();
      expect((await store.outbox.claim(1000)).filter((one) => one.owner === owner)).toEqual([
        { ...rest, attempts: 0, nextAt: createdAt },
      ]);
      expect(await store.outbox.claim(1000)).toEqual([]);
    });

    test('only the callbacks of one request are found', async () => {
      const row = delivery({ requestId: 'r-1' });
      await store.outbox.add(row);
      await store.outbox.add(delivery({ id: `${row.id}-other`, requestId: 'another' }));
      await store.outbox.add(delivery({ id: `${row.id}-theirs`, owner: `not ${owner}`, requestId: 'r-1' }));
      expect(await store.outbox.answering({ owner, requestId: 'r-1' })).toEqual([fresh(row)]);
    });

    test('the same id again changes nothing', async () => {
      await store.outbox.add(delivery());
      await store.outbox.add(delivery({ body: 'another' }));
      expect((await store.outbox.find(`cb-${owner}`))?.body).toBe('{"x":"é"}');
    });

    test('what was delivered is not due any more, and a later failure cannot undo that', async () => {
      const row = delivery();
      await store.outbox.add(row);
      await store.outbox.delivered([row.id], 2000);
      await store.outbox.failed(row.id, { at: 3000, reason: 'late' }, 4000);
      expect(await store.outbox.find(row.id)).toEqual({
        ...fresh(row),
        state: 'delivered',
        attempts: 1,
        endedAt: 2000,
      });
      expect(await dueOf()).toEqual([]);
      expect(await store.outbox.dueBody(row.id)).toBeUndefined();
    });

    test('a failed try is kept with its reason, until there is no next one', async () => {
      const row = delivery();
      await store.outbox.add(row);
      await store.outbox.failed(row.id, { at: 2000, reason: 'HTTP 503', status: 503 }, 2500);
      expect(await store.outbox.find(row.id)).toMatchObject({ state: 'due', attempts: 1, nextAt: 2500, endedAt: null });
      await store.outbox.failed(row.id, { at: 2600, reason: 'no answer' }, null);
      expect(await store.outbox.find(row.id)).toMatchObject({
        state: 'dead',
        attempts: 2,
        failures: [
          { at: 2000, reason: 'HTTP 503', status: 503 },
          { at: 2600, reason: 'no answer' },
        ],
        endedAt: 2600,
      });
      expect(await dueOf()).toEqual([]);
    });

    test('the last failures are kept, however often it was tried again and given up', async () => {
      const { id } = delivery();
      await store.outbox.add(delivery());
      for (let time = 1; time <= 21; time += 1) {
        await store.outbox.givenUp(id, { at: time, reason: 'x' });
        await store.outbox.revive(id, time);
      }
      const ats = (await store.outbox.find(id))?.failures.map(({ at }) => at);
      expect([ats?.[0], ats?.length]).toEqual([2, 20]);
    });

    test('several are delivered at once; of those the dead and the unknown stay what they are', async () => {
      const [one, two, dead] = [delivery({ id: `1-${owner}` }), delivery({ id: `2-${owner}` }), delivery()];
      for (const row of [one, two, dead]) await store.outbox.add(row);
      await store.outbox.givenUp(dead.id, { at: 1500, reason: 'too late' });
      await store.outbox.delivered([one.id, dead.id, 'unknown', two.id], 2000);
      const found = await Promise.all([one, two, dead].map(({ id }) => store.outbox.find(id)));
      expect(found).toMatchObject([
        { state: 'delivered', attempts: 1, endedAt: 2000 },
        { state: 'delivered', attempts: 1, endedAt: 2000 },
        { state: 'dead', attempts: 0, endedAt: 1500 },
      ]);
      expect(await store.outbox.find('unknown')).toBeUndefined();
    });

    test('what is given up without a try is dead with the tries it had, and one that was delivered stays so', async () => {
      const [row, done] = [delivery(), delivery({ id: `done-${owner}` })];
      for (const one of [row, done]) await store.outbox.add(one);
      await store.outbox.failed(row.id, { at: 2000, reason: 'HTTP 503', status: 503 }, 2500);
      await store.outbox.delivered([done.id], 2000);
      for (const { id } of [row, done]) await store.outbox.givenUp(id, { at: 2600, reason: 'too late' });
      expect(await store.outbox.find(row.id)).toMatchObject({
        state: 'dead',
        attempts: 1,
        failures: [{ reason: 'HTTP 503' }, { at: 2600, reason: 'too late' }],
        endedAt: 2600,
      });
      expect(await store.outbox.find(done.id)).toMatchObject({ state: 'delivered', failures: [], endedAt: 2000 });
      expect(await dueOf()).toEqual([]);
    });

    test('a receiver that is gone ends everything of that sender to that URL, and nothing else', async () => {
      const ids = ['first', 'same', 'elsewhere', 'other-sender'].map((word) => `${word}-${owner}`);
      const [first = '', same = '', elsewhere = '', foreign = ''] = ids;
      await store.outbox.add(delivery({ id: first }));
      await store.outbox.add(delivery({ id: same }));
      await store.outbox.add(delivery({ id: elsewhere, url: 'https://one.example/other' }));
      await store.outbox.add(delivery({ id: foreign, owner: `not-${owner}` }));
      expect(await store.outbox.gone(first, { at: 2000, reason: 'HTTP 410', status: 410 })).toEqual([first, same]);
      expect(await dueOf()).toEqual([elsewhere]);
      expect((await store.outbox.find(foreign))?.state).toBe('due');
      expect(await store.outbox.find(same)).toMatchObject({ state: 'dead', attempts: 0, failures: [{ at: 2000 }] });
      expect(await store.outbox.isDisabled(owner, 'https://one.example/in')).toBe(true);
      expect(await store.outbox.isDisabled(`not-${owner}`, 'https://one.example/in')).toBe(false);
      await store.outbox.add(delivery({ id: `later-${owner}` }));
      expect(await store.outbox.find(`later-${owner}`)).toMatchObject({ state: 'dead', endedAt: 1000 });
    });

    test('a dead one revived is due with all its tries, and its URL is good again', async () => {
      const row = delivery();
      await store.outbox.add(row);
      expect(await store.outbox.revive(row.id, 2000)).toBe(false);
      await store.outbox.gone(row.id, { at: 2000, reason: 'HTTP 410', status: 410 });
      expect(await store.outbox.revive(row.id, 3000)).toBe(true);
      expect(await store.outbox.find(row.id)).toMatchObject({
        state: 'due',
        attempts: 0,
        nextAt: 3000,
        endedAt: null,
        failures: [{ at: 2000, reason: 'HTTP 410', status: 410 }],
      });
      expect(await store.outbox.isDisabled(owner, row.url)).toBe(false);
      expect(await store.outbox.revive('never-was', 3000)).toBe(false);
    });

    test('a URL is enabled again by itself, and only once', async () => {
      const row = delivery();
      await store.outbox.add(row);
      expect(await store.outbox.enable(owner, row.url)).toBe(false);
      await store.outbox.gone(row.id, { at: 2000, reason: 'HTTP 410', status: 410 });
      expect(await store.outbox.enable(`not-${owner}`, row.url)).toBe(false);
      expect(await store.outbox.enable(owner, row.url)).toBe(true);
      expect(await store.outbox.enable(owner, row.url)).toBe(false);
      expect(await store.outbox.isDisabled(owner, row.url)).toBe(false);
      expect((await store.outbox.find(row.id))?.state).toBe('dead');
    });

    test('a report of a gone receiver is purged by its own age, however old the callback is', async () => {
      await using(await open(), async (one) => {
        for (const [id, at] of [
          ['old', 2000],
          ['new', 3000],
        ] as const) {
          await one.outbox.add(delivery({ id, url: `https://${id}.example/` }));
          await one.outbox.gone(id, { at, reason: 'HTTP 410', status: 410 });
        }
        // The first report sets the time, even if it is repeated later.
        await one.outbox.add(delivery({ id: 'again', url: 'https://old.example/' }));
        await one.outbox.gone('again', { at: 5000, reason: 'HTTP 410', status: 410 });
        expect(await one.outbox.purge({ ended: 0, gone: 3000 })).toBe(1);
        const isDisabled = (name: string) => one.outbox.isDisabled(owner, `https://${name}.example/`);
        expect([await isDisabled('old'), await isDisabled('new')]).toEqual([false, true]);
      });
    });

    test('lists newest first, by state, a page at a time, and forgets what ended long ago', async () => {
      await using(await open(), async (one) => {
        for (const id of ['a', 'b', 'c', 'd']) await one.outbox.add(delivery({ id }));
        await one.outbox.delivered(['a'], 2000);
        await one.outbox.failed('b', { at: 3000, reason: 'x' }, null);
        const ids = async (page: Parameters<typeof one.outbox.list>[0]) => {
          const { rows, total } = await one.outbox.list(page);
          return [rows.map(({ id }) => id), total];
        };
        const pages = async (state?: 'due') => {
          const found: string[][] = [];
          let after: number | undefined;
          do {
            const { rows, next } = await one.outbox.list({ state, after, limit: 2 });
            found.push(rows.map(({ id }) => id));
            after = next;
          } while (after !== undefined);
          return found;
        };
        expect(await ids({ limit: 10 })).toEqual([['d', 'c', 'b', 'a'], 4]);
        const { body, ...summary } = fresh(delivery({ id: 'd' }));
        expect((await one.outbox.list({ limit: 1 })).rows).toEqual([summary]);
        expect(await pages()).toEqual([
          ['d', 'c'],
          ['b', 'a'],
        ]);
        expect(await pages('due')).toEqual([['d', 'c']]);
        expect(await ids({ state: 'dead', limit: 10 })).toEqual([['b'], 1]);
        expect(await one.outbox.purge({ ended: 3000, gone: 0 })).toBe(1);
        expect(await ids({ limit: 10 })).toEqual([['d', 'c', 'b'], 3]);
      });
    });

    test('a salt stays what it was first, until it is forgotten', async () => {
      expect(await store.outbox.salt(owner, 'one')).toBe('one');
      expect(await store.outbox.salt(owner, 'two')).toBe('one');
      await store.outbox.forgetSalt(owner);
      expect(await store.outbox.salt(owner, 'two')).toBe('two');
    });
  });
}

async function using(store: Store, act: (store: Store) => Promise<void>): Promise<void> {
  try {
    await act(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

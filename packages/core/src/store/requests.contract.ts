import { beforeEach, describe, expect, test } from 'vitest';
import { heldOf } from '../../test-support/held-runs.ts';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import type { FrameRow, RequestKey, RequestRow, Store } from './store.ts';

/** The contract of every store for requests and their frames. `open` returns a fresh, empty one. */
export function describeRequests(name: string, open: OpenStore): void {
  describe(`requests in ${name}`, () => {
    let store: Store;
    let owner = '';
    const fresh = sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });

    const ann = (requestId: string): RequestKey => ({ owner, requestId });
    const request = (fields: Partial<RequestRow> = {}): RequestRow => requestRow({ owner, ...fields });

    describe('accepting', () => {
      test('what was accepted is found, field by field', async () => {
        const row = request({ sessionId: 's', idempotencyKey: 'k', expiresAt: 9_000_000_000_000, priority: -3 });
        expect(await store.requests.accept(row)).toMatchObject({ repeat: false });
        expect(await store.requests.find(row)).toEqual(row);
      });

      test('text comes back exactly as it was given', async () => {
        const row = request({ envelope: ODD_TEXT, owner: 'o\'"\n', requestId: 'é\u2028%_' });
        await store.requests.accept(row);
        expect(await store.requests.find(row)).toEqual(row);
      });

      test('a NUL character is refused rather than cut off: not every database keeps it', async () => {
        await expect(store.requests.accept(request({ requestId: 'a\0b' }))).rejects.toThrow('NUL');
        await expect(store.requests.accept(request({ sessionId: '\0' }))).rejects.toThrow('NUL');
        await store.requests.accept(request());
        await expect(store.requests.append(heldOf(store, ann('r1')), [frame(0, { text: '\0' })])).rejects.toThrow(
          'NUL',
        );
      });

      test("by its id alone everybody's request is found, newest first, with how it arrived", async () => {
        const mine = request({ requestId: 'by-name', acceptedAt: 100 });
        const theirs = request({ owner: 'zoe', requestId: 'by-name', acceptedAt: 200 });
        const between = request({ owner: 'max', requestId: 'other', acceptedAt: 300 });
        await store.requests.accept(mine, { arrival: ODD_TEXT });
        await store.requests.accept(theirs);
        await store.requests.accept(between);
        await store.requests.accept(mine, { arrival: 'a repeat arrives otherwise' });
        expect(await store.requests.named(mine.requestId)).toEqual([
          { ...theirs, arrival: null },
          { ...mine, arrival: ODD_TEXT },
        ]);
        const answered = request({ requestId: 'by-name-answered', state: 'started' });
        await store.requests.acceptAnswered(answered, [frame(0, { isFinal: true })], { arrival: ODD_TEXT });
        expect(await store.requests.named('by-name-answered')).toMatchObject([
          { state: 'finished', arrival: ODD_TEXT },
        ]);
        expect(await store.requests.named('unknown')).toEqual([]);
      });

      test('the same id again is a repeat and gives the first row, whatever the body says now', async () => {
        const first = request({ envelope: '{"one":1}' });
        await store.requests.accept(first);
        expect(await store.requests.accept({ ...first, envelope: '{"two":2}' })).toEqual({
          repeat: true,
          row: first,
        });
        expect(await store.requests.find(first)).toEqual(first);
      });

      test('a repeat tells the state its request has by now', async () => {
        const row = request();
        await store.requests.accept(row);
        await store.requests.start(heldOf(store, row));
        expect(await store.requests.accept(row)).toEqual({ repeat: true, row: { ...row, state: 'started' } });
        await store.requests.append(heldOf(store, row), [frame(0, { isFinal: true })]);
        expect(await store.requests.accept(row)).toEqual({ repeat: true, row: { ...row, state: 'finished' } });
      });

      test('the same idempotency key under another id is a repeat of the first', async () => {
        const first = request({ idempotencyKey: 'pay-once' });
        await store.requests.accept(first);
        const second = request({ requestId: 'r2', idempotencyKey: 'pay-once' });
        expect(await store.requests.accept(second)).toEqual({ repeat: true, row: first });
        expect(await store.requests.find(second)).toBeUndefined();
      });

      test('where the id names one request and the idempotency key another, the id counts', async () => {
        const byId = request({ requestId: 'r1' });
        const byKey = request({ requestId: 'r2', idempotencyKey: 'k' });
        await store.requests.accept(byId);
        await store.requests.accept(byKey);
        expect(await store.requests.accept({ ...byId, idempotencyKey: 'k' })).toEqual({ repeat: true, row: byId });
      });

      test('an earlier one is found by its id, else by its idempotency key, without recording anything', async () => {
        const byId = request({ requestId: 'r1' });
        const byKey = request({ requestId: 'r2', idempotencyKey: 'k' });
        await store.requests.accept(byId);
        await store.requests.accept(byKey);
        expect(await store.requests.earlier({ owner, requestId: 'r1', idempotencyKey: 'k' })).toEqual(byId);
        expect(await store.requests.earlier({ owner, requestId: 'r3', idempotencyKey: 'k' })).toEqual(byKey);
        expect(await store.requests.earlier({ owner, requestId: 'r3', idempotencyKey: null })).toBeUndefined();
        const theirs = { owner: `not ${owner}`, requestId: 'r1', idempotencyKey: 'k' };
        expect(await store.requests.earlier(theirs)).toBeUndefined();
        expect(await store.requests.find(ann('r3'))).toBeUndefined();
      });

      test('requests without an idempotency key are never taken for each other', async () => {
        await store.requests.accept(request({ requestId: 'r1' }));
        expect(await store.requests.accept(request({ requestId: 'r2' }))).toMatchObject({ repeat: false });
      });

      test('of many that send the same request at once, one is the first', async () => {
        const answers = await Promise.all(Array.from({ length: 40 }, () => store.requests.accept(request())));
        expect(answers.filter((answer) => 'repeat' in answer && !answer.repeat)).toHaveLength(1);
      });

      test('a request can be recorded as started', async () => {
        const row = request({ state: 'started' });
        await store.requests.accept(row);
        expect((await store.requests.find(row))?.state).toBe('started');
        expect(await store.requests.start(heldOf(store, row))).toBe(false);
      });

      test('a request can be recorded with its whole answer', async () => {
        const row = request({ sessionId: 's', state: 'started' });
        const frames = [frame(0), frame(1, { isFinal: true, text: 'its end' })];
        expect(await store.requests.acceptAnswered(row, frames)).toMatchObject({ repeat: false });
        expect(await store.requests.find(row)).toEqual({ ...row, state: 'finished' });
        expect(await store.requests.frames(row, ALL)).toEqual(frames);
        expect(await store.requests.frames(row, { ...ALL, after: 0 })).toEqual(frames.slice(1));
        expect(await store.requests.frames(row, { ...ALL, after: 1 })).toEqual([]);
        const turns = await store.sessions.turns(
          { ...row, sessionId: 's' },
          { offset: 0, limit: 9, maxBytes: 1 << 20 },
        );
        expect(turns.rows).toMatchObject([{ requestId: row.requestId, final: 'its end' }]);
        expect(await openOnes(store, owner)).toEqual([]);
        await expect(store.requests.append(heldOf(store, row), [frame(2)])).rejects.toThrow();
      });

      test('and with one of any length', async () => {
        const row = request({ sessionId: 's', state: 'started' });
        const frames = Array.from({ length: 40 }, (_, at) =>
          frame(at, { isFinal: at === 39, text: `${at} `.repeat(5000) }),
        );
        await store.requests.acceptAnswered(row, frames);
        expect(await store.requests.find(row)).toEqual({ ...row, state: 'finished' });
        expect(await store.requests.frames(row, ALL)).toEqual(frames);
        const turns = await store.sessions.turns(
          { ...row, sessionId: 's' },
          { offset: 0, limit: 9, maxBytes: 1 << 20 },
        );
        expect(turns.rows).toMatchObject([{ final: frames.at(-1)?.text }]);
      });

      test('an answer to a repeat is not recorded', async () => {
        const row = request();
        await store.requests.accept(row);
        const frames = [frame(0, { isFinal: true })];
        expect(await store.requests.acceptAnswered({ ...row, state: 'started' }, frames)).toEqual({
          repeat: true,
          row,
        });
        expect(await store.requests.frames(row, ALL)).toEqual([]);
        expect((await store.requests.find(row))?.state).toBe('accepted');
      });

      test('a request whose answer cannot be recorded is not recorded either', async () => {
        const row = request({ state: 'started' });
        const final = frame(0, { isFinal: true });
        await expect(store.requests.acceptAnswered(row, [])).rejects.toThrow('whole');
        await expect(store.requests.acceptAnswered(row, [frame(0)])).rejects.toThrow('whole');
        await expect(store.requests.acceptAnswered(row, [{ ...final, text: '\0' }])).rejects.toThrow('NUL');
        expect(await store.requests.find(row)).toBeUndefined();
        expect(await store.requests.acceptAnswered(row, [final])).toMatchObject({ repeat: false });
      });

      test('a request that is not there is undefined', async () => {
        expect(await store.requests.find(ann('none'))).toBeUndefined();
      });
    });

    describe('starting', () => {
      test('it starts once', async () => {
        await store.requests.accept(request());
        expect(
          await Promise.all([
            store.requests.start(heldOf(store, ann('r1'))),
            store.requests.start(heldOf(store, ann('r1'))),
          ]),
        ).toEqual([true, false]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('started');
      });

      test('what is not there or finished does not start', async () => {
        expect(await store.requests.start(heldOf(store, ann('r1')))).toBe(false);
        await store.requests.accept(request());
        await store.requests.append(heldOf(store, ann('r1')), [frame(0, { isFinal: true })]);
        expect(await store.requests.start(heldOf(store, ann('r1')))).toBe(false);
      });
    });

    describe('appending frames', () => {
      beforeEach(async () => {
        await store.requests.accept(request());
      });

      test('frames come back in order, one by one or together, exactly as they were given', async () => {
        const frames = [
          frame(0),
          frame(1, { text: ODD_TEXT }),
          frame(2, { text: '' }),
          frame(3),
          frame(4, { isFinal: true }),
        ];
        await store.requests.append(heldOf(store, ann('r1')), frames.slice(0, 1));
        await store.requests.append(heldOf(store, ann('r1')), frames.slice(1, 4));
        await store.requests.append(heldOf(store, ann('r1')), frames.slice(4));
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual(frames);
      });

      test('the final frame finishes the request, and no other does', async () => {
        await store.requests.append(heldOf(store, ann('r1')), [frame(0)]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('accepted');
        await store.requests.append(heldOf(store, ann('r1')), [frame(1), frame(2, { isFinal: true })]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('finished');
      });

      test('no frames change nothing', async () => {
        await store.requests.append(heldOf(store, ann('r1')), []);
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual([]);
      });

      test.each([
        ['a stream that does not begin with 0', [], [frame(1)]],
        ['a gap to what is there', [frame(0)], [frame(2)]],
        ['a gap inside', [], [frame(0), frame(2)]],
        ['a repeat', [frame(0)], [frame(0)]],
        ['a frame after the final one', [frame(0, { isFinal: true })], [frame(1)]],
        ['a second final frame', [frame(0, { isFinal: true })], [frame(1, { isFinal: true })]],
        ['a frame after the final one in the same call', [], [frame(0, { isFinal: true }), frame(1)]],
      ])('%s is refused and leaves no trace', async (_, before, refused) => {
        await store.requests.append(heldOf(store, ann('r1')), before);
        const row = await store.requests.find(ann('r1'));
        await expect(store.requests.append(heldOf(store, ann('r1')), refused)).rejects.toThrow();
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual(before);
        expect(await store.requests.find(ann('r1'))).toEqual(row);
      });

      test('frames of a request that was never accepted are refused', async () => {
        const never = store.requests.append(heldOf(store, ann('none')), [frame(0)]);
        await expect(never).rejects.toMatchObject({ code: 'not_held' });
      });

      test('a refused append does not fail those that come with it', async () => {
        const others = Array.from({ length: 10 }, (_, index) => request({ requestId: `other-${index}` }));
        const good = others.map((row) => store.requests.accept(row));
        const bad = store.requests.append(heldOf(store, ann('r1')), [frame(7)]);
        const late = store.requests.append(heldOf(store, ann('r1')), [frame(0)]);
        await expect(bad).rejects.toThrow();
        await late;
        expect(await Promise.all(good)).toMatchObject(others.map(() => ({ repeat: false })));
        for (const row of others) expect(await store.requests.find(row)).toEqual(row);
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual([frame(0)]);
      });
    });

    describe('reading frames', () => {
      const frames = Array.from({ length: 1000 }, (_, sequence) => frame(sequence, { isFinal: sequence === 999 }));

      beforeEach(async () => {
        await store.requests.accept(request());
        // Rows of 1, 2, 3… frames, so that ranges also begin and end within a row.
        for (let from = 0, size = 1; from < frames.length; from += size, size += 1) {
          await store.requests.append(heldOf(store, ann('r1')), frames.slice(from, from + size));
        }
      });

      test.each([
        [-1, 5],
        [-1, 1000],
        [0, 3],
        [41, 100],
        [500, 1],
        [998, 10],
        [999, 10],
        [5000, 10],
      ])('after %i, at most %i', async (after, limit) => {
        const read = await store.requests.frames(ann('r1'), { ...ALL, after, limit });
        expect(read).toEqual(frames.slice(after + 1, after + 1 + limit));
      });

      test('at most the requested bytes, counted as UTF-8', async () => {
        const row = request({ requestId: 'wide' });
        await store.requests.accept(row);
        await store.requests.append(
          heldOf(store, row),
          [0, 1, 2, 3].map((sequence) => frame(sequence, { text: 'é'.repeat(50) })),
        );
        expect(await store.requests.frames(row, { ...ALL, maxBytes: 299 })).toHaveLength(2);
        expect(await store.requests.frames(row, { ...ALL, maxBytes: 300 })).toHaveLength(3);
      });

      test('a frame larger than the limit is given alone, so that a reader gets on', async () => {
        const row = request({ requestId: 'large' });
        const sizes = [10, 5000, 10];
        await store.requests.accept(row);
        await store.requests.append(
          heldOf(store, row),
          sizes.map((size, sequence) => frame(sequence, { text: 'x'.repeat(size) })),
        );
        const read = async (after: number) =>
          (await store.requests.frames(row, { after, limit: 10, maxBytes: 100 })).map(({ sequence }) => sequence);
        expect([await read(-1), await read(0), await read(1)]).toEqual([[0], [1], [2]]);
      });

      test('ten thousand large frames added at once are read in parts without loss', async () => {
        const row = request({ requestId: 'long' });
        const many = Array.from({ length: 10_000 }, (_, sequence) =>
          frame(sequence, { text: `${sequence}:${'z'.repeat(90)}` }),
        );
        await store.requests.accept(row);
        await store.requests.append(heldOf(store, row), many);
        const read: FrameRow[] = [];
        for (let part = await next(); part.length > 0; part = await next()) read.push(...part);
        expect(read).toEqual(many);

        function next(): Promise<FrameRow[]> {
          return store.requests.frames(row, { after: read.length - 1, limit: 777, maxBytes: 50_000 });
        }
      });
    });

    describe('what a restart has to deal with', () => {
      fresh();

      test('everything accepted or started is claimed once, oldest first, and the earlier hold is refused', async () => {
        const at = [500, 300, 300, 400, 100];
        for (const [index, acceptedAt] of at.entries())
          await store.requests.accept(request({ requestId: `r${index}`, acceptedAt }));
        await store.requests.start(heldOf(store, ann('r3')));
        await store.requests.append(heldOf(store, ann('r4')), [frame(0, { isFinal: true })]);
        const held = heldOf(store, ann('r1'));
        expect(await store.requests.claim(10)).toEqual([]);
        await fresh.restart();
        const open = [...(await store.requests.claim(3)), ...(await store.requests.claim(3))];
        expect(open.map(({ row: { requestId, state } }) => [requestId, state])).toEqual([
          ['r1', 'accepted'],
          ['r2', 'accepted'],
          ['r3', 'started'],
          ['r0', 'accepted'],
        ]);
        expect(await store.requests.claim(10)).toEqual([]);
        const claimed = open[0]?.held ?? held;
        await store.requests.append(claimed, [frame(0)]);
        const late = { code: 'not_held' };
        await expect(store.requests.append(held, [frame(1)])).rejects.toMatchObject(late);
        expect(await store.requests.start(held)).toBe(false);
        await store.requests.append(claimed, [frame(1, { isFinal: true })]);
        await expect(store.requests.append(claimed, [frame(2)])).rejects.toMatchObject(late);
        expect(await store.requests.frames(ann('r1'), ALL)).toHaveLength(2);
      });
    });

    describe('purging', () => {
      fresh();

      test('forgets finished requests from before, with their frames and keys, and tells how many', async () => {
        for (const [index, acceptedAt] of [100, 200, 300].entries()) {
          const row = request({ requestId: `r${index}`, acceptedAt, idempotencyKey: `k${index}` });
          await store.requests.accept(row);
          await store.requests.append(heldOf(store, row), [frame(0), frame(1, { isFinal: true })]);
        }
        expect(await store.requests.purge(300)).toBe(2);
        expect(await store.requests.find(ann('r0'))).toBeUndefined();
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual([]);
        expect(await store.requests.frames(ann('r2'), ALL)).toHaveLength(2);
        expect(await store.requests.accept(request({ requestId: 'r0', idempotencyKey: 'k0' }))).toMatchObject({
          repeat: false,
        });
        expect(await store.requests.frames(ann('r0'), ALL)).toEqual([]);
      });

      test('keeps what is not finished, however old', async () => {
        await store.requests.accept(request({ acceptedAt: 1 }));
        expect(await store.requests.purge(1_000)).toBe(0);
        expect(await store.requests.find(ann('r1'))).toBeDefined();
      });

      test('keeps what was open until a short while ago, however old', async () => {
        await store.requests.accept(request({ acceptedAt: 1 }));
        await store.requests.accept(request({ requestId: 'ended', acceptedAt: 2 }));
        await store.requests.append(heldOf(store, ann('ended')), [frame(0, { isFinal: true })]);
        await store.requests.noteOpen(100, 900);
        await store.requests.noteOpen(1, 950);
        await store.requests.append(heldOf(store, ann('r1')), [frame(0, { isFinal: true })]);
        expect(await store.requests.purge(900)).toBe(1);
        expect(await store.requests.find(ann('ended'))).toBeUndefined();
        expect(await store.requests.frames(ann('r1'), ALL)).toHaveLength(1);
        expect(await store.requests.purge(901)).toBe(1);
        expect(await store.requests.find(ann('r1'))).toBeUndefined();
      });

      test('forgets hundreds in one go', async () => {
        const rows = Array.from({ length: 250 }, (_, index) => request({ requestId: `r${index}`, acceptedAt: index }));
        await Promise.all(rows.map((row) => store.requests.accept(row)));
        await Promise.all(rows.map((row) => store.requests.append(heldOf(store, row), [frame(0, { isFinal: true })])));
        expect(await store.requests.purge(1_000)).toBe(250);
        expect(await store.requests.purge(1_000)).toBe(0);
      });
    });

    describe('another owner', () => {
      beforeEach(async () => {
        await store.requests.accept(request({ sessionId: 's1', idempotencyKey: 'k' }));
        await store.requests.append(heldOf(store, ann('r1')), [frame(0)]);
      });

      test('does not see, start, continue or repeat a request', async () => {
        const theirs = { owner: `not ${owner}`, requestId: 'r1' };
        expect(await store.requests.find(theirs)).toBeUndefined();
        expect(await store.requests.frames(theirs, ALL)).toEqual([]);
        expect(await store.requests.start(heldOf(store, theirs))).toBe(false);
        await expect(store.requests.append(heldOf(store, theirs), [frame(1)])).rejects.toThrow();
        expect(await store.requests.accept(request({ owner: `not ${owner}`, idempotencyKey: 'k' }))).toMatchObject({
          repeat: false,
        });
        expect(await store.requests.frames(theirs, ALL)).toEqual([]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('accepted');
      });

      test('cannot be reached by a name that runs two fields together', async () => {
        await store.requests.accept(request({ owner: 'a', requestId: 'b","c' }));
        expect(await store.requests.find({ owner: 'a","b', requestId: 'c' })).toBeUndefined();
      });
    });

    test('many writers at once keep the order of each request', async () => {
      const writers = Array.from({ length: 50 }, (_, index) =>
        request({ requestId: `r${index}`, owner: `${owner}-${index % 7}` }),
      );
      await Promise.all(
        writers.map(async (row, index) => {
          await store.requests.accept(row);
          await store.requests.start(heldOf(store, row));
          let sequence = 0;
          for (let size = 1; size <= 5; size += 1) {
            const part = Array.from({ length: size }, () =>
              frame(sequence++, { text: `${index}/${sequence}`, isFinal: sequence === 15 }),
            );
            // Two calls without waiting in between: they must not overtake each other.
            await Promise.all([
              store.requests.append(heldOf(store, row), part.slice(0, 1)),
              store.requests.append(heldOf(store, row), part.slice(1)),
            ]);
          }
        }),
      );
      for (const [index, row] of writers.entries()) {
        const frames = await store.requests.frames(row, ALL);
        expect(frames.map(({ text }) => text)).toEqual(Array.from({ length: 15 }, (_, at) => `${index}/${at + 1}`));
        expect(frames.at(-1)?.isFinal).toBe(true);
      }
      for (const { owner: writer } of writers) expect(await openOnes(store, writer)).toEqual([]);
    });

    test('a closed store refuses, and may be closed again', async () => {
      const store = await open();
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await expect(store.requests.accept(request())).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(store.requests.find(ann('r1'))).rejects.toMatchObject({ code: 'store_unavailable' });
    });
  });
}

/** The ids of an owner's open requests. */
async function openOnes(store: Store, owner: string): Promise<string[]> {
  const { rows } = await store.requests.list({ owner, progress: ['accepted', 'started', 'answering'], limit: 1000 });
  return rows.map(({ requestId }) => requestId);
}

/** A request by Ann to the echo agent. `fields` replaces defaults. */
export function requestRow(fields: Partial<RequestRow> = {}): RequestRow {
  return {
    owner: 'ann',
    requestId: 'r1',
    agentId: 'echo',
    sessionId: null,
    idempotencyKey: null,
    envelope: '{"method":"chat.send"}',
    state: 'accepted',
    acceptedAt: 1_750_000_000_000,
    expiresAt: null,
    priority: 5,
    ...fields,
  };
}

export function frame(sequence: number, fields: Partial<FrameRow> = {}): FrameRow {
  return { sequence, isFinal: false, text: `{"sequence":${sequence}}`, ...fields };
}

export const ALL = { after: -1, limit: 100_000, maxBytes: 100_000_000 };

const ODD_TEXT = '{"text":"line\nbreak, comma, \u2028 \\" é 漢 😀 \\ud800"}';

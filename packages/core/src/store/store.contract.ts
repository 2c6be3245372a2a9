import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FrameRow, KeyRow, RequestKey, RequestRow, SessionRow, Store } from './store.ts';

/** What every store must do. `open` gives a fresh, empty one. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    // One store for many tests, where each has an owner of its own; a fresh one where a test looks at everything in it.
    let shared: Store;
    let store: Store;
    let owner = '';
    let tests = 0;

    beforeAll(async () => {
      shared = await open();
    });

    afterAll(() => shared[Symbol.asyncDispose]());

    beforeEach(() => {
      tests += 1;
      owner = `ann-${tests}`;
      store = shared;
    });

    const ann = (requestId: string): RequestKey => ({ owner, requestId });
    const request = (fields: Partial<RequestRow> = {}): RequestRow => requestRow({ owner, ...fields });
    const session = (fields: Partial<SessionRow> = {}): SessionRow => sessionRow({ owner, ...fields });

    function fresh(): void {
      beforeEach(async () => {
        store = await open();
      });

      afterEach(() => store[Symbol.asyncDispose]());
    }

    describe('accepting', () => {
      test('what was accepted is found, field by field', async () => {
        const row = request({ sessionId: 's', idempotencyKey: 'k', expiresAt: 9_000_000_000_000, priority: -3 });
        expect(await store.requests.accept(row)).toEqual({ repeat: false });
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
        await expect(store.requests.append(ann('r1'), [frame(0, { text: '\0' })])).rejects.toThrow('NUL');
        await expect(store.sessions.create(session({ title: 'a\0' }))).rejects.toThrow('NUL');
      });

      test("by its id alone everybody's request is found, newest first, with how it arrived", async () => {
        const mine = request({ requestId: 'by-name', acceptedAt: 100 });
        const theirs = request({ owner: 'zoe', requestId: 'by-name', acceptedAt: 200 });
        const between = request({ owner: 'max', requestId: 'other', acceptedAt: 300 });
        await store.requests.accept(mine, undefined, ODD_TEXT);
        await store.requests.accept(theirs);
        await store.requests.accept(between);
        await store.requests.accept(mine, undefined, 'a repeat arrives otherwise');
        expect(await store.requests.named(mine.requestId)).toEqual([
          { ...theirs, arrival: null },
          { ...mine, arrival: ODD_TEXT },
        ]);
        const answered = request({ requestId: 'by-name-answered', state: 'started' });
        await store.requests.acceptAnswered(answered, [frame(0, { isFinal: true })], ODD_TEXT);
        expect(await store.requests.named('by-name-answered')).toMatchObject([
          { state: 'finished', arrival: ODD_TEXT },
        ]);
        expect(await store.requests.named('nobody has it')).toEqual([]);
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
        await store.requests.start(row);
        expect(await store.requests.accept(row)).toEqual({ repeat: true, row: { ...row, state: 'started' } });
        await store.requests.append(row, [frame(0, { isFinal: true })]);
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

      test('requests without an idempotency key are never taken for each other', async () => {
        await store.requests.accept(request({ requestId: 'r1' }));
        expect(await store.requests.accept(request({ requestId: 'r2' }))).toEqual({ repeat: false });
      });

      test('of many that send the same request at once, one is the first', async () => {
        const answers = await Promise.all(Array.from({ length: 40 }, () => store.requests.accept(request())));
        expect(answers.filter((answer) => 'repeat' in answer && !answer.repeat)).toHaveLength(1);
      });

      test('a request can be recorded as started', async () => {
        const row = request({ state: 'started' });
        await store.requests.accept(row);
        expect((await store.requests.find(row))?.state).toBe('started');
        expect(await store.requests.start(row)).toBe(false);
      });

      test('a request can be recorded with its whole answer', async () => {
        const row = request({ sessionId: 's', state: 'started' });
        const frames = [frame(0), frame(1, { isFinal: true })];
        expect(await store.requests.acceptAnswered(row, frames)).toEqual({ repeat: false });
        expect(await store.requests.find(row)).toEqual({ ...row, state: 'finished' });
        expect(await store.requests.frames(row, ALL)).toEqual(frames);
        expect((await store.sessions.turns({ ...row, sessionId: 's' }, { offset: 0, limit: 9 })).rows).toHaveLength(1);
        expect((await store.requests.unfinished()).filter((open) => open.owner === owner)).toEqual([]);
        await expect(store.requests.append(row, [frame(2)])).rejects.toThrow();
      });

      test('an answer that came too late for a repeat is not recorded', async () => {
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
        expect(await store.requests.acceptAnswered(row, [final])).toEqual({ repeat: false });
      });

      test('a request that is not there is undefined', async () => {
        expect(await store.requests.find(ann('none'))).toBeUndefined();
      });
    });

    describe('starting', () => {
      test('it starts once', async () => {
        await store.requests.accept(request());
        expect(await Promise.all([store.requests.start(ann('r1')), store.requests.start(ann('r1'))])).toEqual([
          true,
          false,
        ]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('started');
      });

      test('what is not there or finished does not start', async () => {
        expect(await store.requests.start(ann('r1'))).toBe(false);
        await store.requests.accept(request());
        await store.requests.append(ann('r1'), [frame(0, { isFinal: true })]);
        expect(await store.requests.start(ann('r1'))).toBe(false);
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
        await store.requests.append(ann('r1'), frames.slice(0, 1));
        await store.requests.append(ann('r1'), frames.slice(1, 4));
        await store.requests.append(ann('r1'), frames.slice(4));
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual(frames);
      });

      test('the final frame finishes the request, and no other does', async () => {
        await store.requests.append(ann('r1'), [frame(0)]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('accepted');
        await store.requests.append(ann('r1'), [frame(1), frame(2, { isFinal: true })]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('finished');
      });

      test('no frames change nothing', async () => {
        await store.requests.append(ann('r1'), []);
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
        await store.requests.append(ann('r1'), before);
        const row = await store.requests.find(ann('r1'));
        await expect(store.requests.append(ann('r1'), refused)).rejects.toThrow();
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual(before);
        expect(await store.requests.find(ann('r1'))).toEqual(row);
      });

      test('frames of a request that was never accepted are refused', async () => {
        await expect(store.requests.append(ann('none'), [frame(0)])).rejects.toThrow('never accepted');
      });

      test('a refused append does not fail those that come with it', async () => {
        const others = Array.from({ length: 10 }, (_, index) => request({ requestId: `other-${index}` }));
        const good = others.map((row) => store.requests.accept(row));
        const bad = store.requests.append(ann('r1'), [frame(7)]);
        const late = store.requests.append(ann('r1'), [frame(0)]);
        await expect(bad).rejects.toThrow();
        await late;
        expect(await Promise.all(good)).toEqual(others.map(() => ({ repeat: false })));
        for (const row of others) expect(await store.requests.find(row)).toEqual(row);
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual([frame(0)]);
      });
    });

    describe('reading frames', () => {
      const frames = Array.from({ length: 1000 }, (_, sequence) => frame(sequence, { isFinal: sequence === 999 }));

      beforeEach(async () => {
        await store.requests.accept(request());
        // Pieces of 1, 2, 3… so that a range begins and ends inside of them too.
        for (let from = 0, size = 1; from < frames.length; from += size, size += 1) {
          await store.requests.append(ann('r1'), frames.slice(from, from + size));
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

      test('no more bytes than asked for, counted as UTF-8', async () => {
        const row = request({ requestId: 'wide' });
        await store.requests.accept(row);
        await store.requests.append(
          row,
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
          row,
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
        await store.requests.append(row, many);
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

      test('everything accepted or started, oldest first, those of one moment as they came', async () => {
        const at = [500, 300, 300, 400, 100];
        for (const [index, acceptedAt] of at.entries())
          await store.requests.accept(request({ requestId: `r${index}`, acceptedAt }));
        await store.requests.start(ann('r3'));
        await store.requests.append(ann('r4'), [frame(0, { isFinal: true })]);
        const open = await store.requests.unfinished();
        expect(open.map(({ requestId, state }) => [requestId, state])).toEqual([
          ['r1', 'accepted'],
          ['r2', 'accepted'],
          ['r3', 'started'],
          ['r0', 'accepted'],
        ]);
      });
    });

    describe('purging', () => {
      fresh();

      test('forgets finished requests from before, with their frames and keys, and tells how many', async () => {
        for (const [index, acceptedAt] of [100, 200, 300].entries()) {
          const row = request({ requestId: `r${index}`, acceptedAt, idempotencyKey: `k${index}` });
          await store.requests.accept(row);
          await store.requests.append(row, [frame(0), frame(1, { isFinal: true })]);
        }
        expect(await store.requests.purge(300)).toBe(2);
        expect(await store.requests.find(ann('r0'))).toBeUndefined();
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual([]);
        expect(await store.requests.frames(ann('r2'), ALL)).toHaveLength(2);
        expect(await store.requests.accept(request({ requestId: 'r0', idempotencyKey: 'k0' }))).toEqual({
          repeat: false,
        });
        expect(await store.requests.frames(ann('r0'), ALL)).toEqual([]);
      });

      test('keeps what is not finished, however old', async () => {
        await store.requests.accept(request({ acceptedAt: 1 }));
        expect(await store.requests.purge(1_000)).toBe(0);
        expect(await store.requests.find(ann('r1'))).toBeDefined();
      });

      test('forgets hundreds in one go', async () => {
        const rows = Array.from({ length: 250 }, (_, index) => request({ requestId: `r${index}`, acceptedAt: index }));
        await Promise.all(rows.map((row) => store.requests.accept(row)));
        await Promise.all(rows.map((row) => store.requests.append(row, [frame(0, { isFinal: true })])));
        expect(await store.requests.purge(1_000)).toBe(250);
        expect(await store.requests.purge(1_000)).toBe(0);
      });
    });

    describe('sessions', () => {
      test('are made once, and left as they are', async () => {
        await store.sessions.create(session({ title: 'first' }));
        await store.sessions.create(session({ title: 'second', updatedAt: 999 }));
        const { rows, total } = await store.sessions.list(owner, { offset: 0, limit: 10 });
        expect(rows).toEqual([session({ title: 'first' })]);
        expect(total).toBe(1);
      });

      test('a request with a session id makes its session', async () => {
        await store.requests.accept(request({ sessionId: 's1', acceptedAt: 700 }));
        const { rows } = await store.sessions.list(owner, { offset: 0, limit: 10 });
        expect(rows).toEqual([session({ createdAt: 700, updatedAt: 700 })]);
      });

      test('a request in a session makes it the last used, and keeps its title', async () => {
        await store.sessions.create(session({ sessionId: 's1', title: 'kept', updatedAt: 100 }));
        await store.sessions.create(session({ sessionId: 's2', updatedAt: 200 }));
        await store.requests.accept(request({ sessionId: 's1', acceptedAt: 300 }));
        const { rows } = await store.sessions.list(owner, { offset: 0, limit: 10 });
        expect(rows.map(({ sessionId, title, updatedAt }) => [sessionId, title, updatedAt])).toEqual([
          ['s1', 'kept', 300],
          ['s2', null, 200],
        ]);
      });

      test('a repeat does not touch the session', async () => {
        await store.requests.accept(request({ sessionId: 's1', acceptedAt: 100 }));
        await store.requests.accept(request({ sessionId: 's1', acceptedAt: 900 }));
        expect((await store.sessions.list(owner, { offset: 0, limit: 1 })).rows[0]?.updatedAt).toBe(100);
      });

      test('are listed by page, last used first, for one agent if asked', async () => {
        for (let index = 0; index < 7; index += 1) {
          await store.sessions.create(
            session({ sessionId: `s${index}`, agentId: index % 2 ? 'odd' : 'even', updatedAt: index }),
          );
        }
        const page = async (options: { offset: number; limit: number; agentId?: string }) => {
          const { rows, total } = await store.sessions.list(owner, options);
          return [rows.map(({ sessionId }) => sessionId), total];
        };
        expect(await page({ offset: 0, limit: 3 })).toEqual([['s6', 's5', 's4'], 7]);
        expect(await page({ offset: 6, limit: 3 })).toEqual([['s0'], 7]);
        expect(await page({ offset: 9, limit: 3 })).toEqual([[], 7]);
        expect(await page({ offset: 0, limit: 9, agentId: 'odd' })).toEqual([['s5', 's3', 's1'], 3]);
      });

      test('have the owners that chose their id with that agent', async () => {
        // Other tests of this store have sessions of their own.
        const sessionId = `of-${owner}`;
        const owners = () => store.sessions.owners({ agentId: 'echo', sessionId });
        expect(await owners()).toEqual([]);
        await store.sessions.create(session({ agentId: 'echo', sessionId }));
        await store.sessions.create(session({ agentId: 'another', sessionId, owner: 'eve' }));
        expect(await owners()).toEqual([owner]);
        for (const other of ['bob', 'cleo']) await store.sessions.create(session({ sessionId, owner: other }));
        expect(await owners()).toHaveLength(2);
        await store.sessions.delete({ owner, agentId: 'echo', sessionId });
        expect((await owners()).sort()).toEqual(['bob', 'cleo']);
      });

      test('of the same moment are listed latest made first', async () => {
        for (const sessionId of ['b', 'a', 'c']) await store.sessions.create(session({ sessionId }));
        const { rows } = await store.sessions.list(owner, { offset: 0, limit: 10 });
        expect(rows.map(({ sessionId }) => sessionId)).toEqual(['c', 'a', 'b']);
      });
    });

    describe('turns of a session', () => {
      const conversation = () => ({ owner, agentId: 'echo', sessionId: 's1' });

      beforeEach(async () => {
        for (let index = 0; index < 5; index += 1) {
          const row = request({
            requestId: `r${index}`,
            sessionId: 's1',
            acceptedAt: index,
            envelope: `{"n":${index}}`,
          });
          await store.requests.accept(row);
          if (index < 4)
            await store.requests.append(row, [frame(0), frame(1, { isFinal: true, text: `final ${index}` })]);
          else await store.requests.append(row, [frame(0)]);
        }
      });

      test('are given by page, newest first, with the final frame once there is one', async () => {
        expect(await store.sessions.turns(conversation(), { offset: 0, limit: 2 })).toEqual({
          rows: [
            { requestId: 'r4', envelope: '{"n":4}', final: null, acceptedAt: 4 },
            { requestId: 'r3', envelope: '{"n":3}', final: 'final 3', acceptedAt: 3 },
          ],
          total: 5,
        });
        const { rows } = await store.sessions.turns(conversation(), { offset: 4, limit: 2 });
        expect(rows.map(({ requestId }) => requestId)).toEqual(['r0']);
      });

      test('of another session, agent or none at all are not among them', async () => {
        await store.requests.accept(request({ requestId: 'x1', sessionId: 's2' }));
        await store.requests.accept(request({ requestId: 'x2', sessionId: 's1', agentId: 'other' }));
        await store.requests.accept(request({ requestId: 'x3' }));
        expect((await store.sessions.turns(conversation(), { offset: 0, limit: 10 })).total).toBe(5);
      });

      test('go with their session; what still runs keeps running outside of it', async () => {
        expect(await store.sessions.delete(conversation())).toBe(true);
        expect(await store.sessions.delete(conversation())).toBe(false);
        expect(await store.sessions.turns(conversation(), { offset: 0, limit: 10 })).toEqual({ rows: [], total: 0 });
        expect(await store.requests.find(ann('r0'))).toBeUndefined();
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual([]);
        const running = ann('r4');
        await store.requests.append(running, [frame(1, { isFinal: true })]);
        expect(await store.requests.find(running)).toMatchObject({ state: 'finished', sessionId: null });
        await store.requests.accept(request({ requestId: 'r9', sessionId: 's1' }));
        expect((await store.sessions.turns(conversation(), { offset: 0, limit: 10 })).total).toBe(1);
      });
    });

    describe('another owner', () => {
      beforeEach(async () => {
        await store.requests.accept(request({ sessionId: 's1', idempotencyKey: 'k' }));
        await store.requests.append(ann('r1'), [frame(0)]);
      });

      test('does not see, start, continue or repeat a request', async () => {
        const theirs = { owner: `not ${owner}`, requestId: 'r1' };
        expect(await store.requests.find(theirs)).toBeUndefined();
        expect(await store.requests.frames(theirs, ALL)).toEqual([]);
        expect(await store.requests.start(theirs)).toBe(false);
        await expect(store.requests.append(theirs, [frame(1)])).rejects.toThrow();
        expect(await store.requests.accept(request({ owner: `not ${owner}`, idempotencyKey: 'k' }))).toEqual({
          repeat: false,
        });
        expect(await store.requests.frames(theirs, ALL)).toEqual([]);
        expect((await store.requests.find(ann('r1')))?.state).toBe('accepted');
      });

      test('does not see, read or delete a session', async () => {
        const theirs = { owner: `not ${owner}`, agentId: 'echo', sessionId: 's1' };
        expect(await store.sessions.list(`not ${owner}`, { offset: 0, limit: 10 })).toEqual({ rows: [], total: 0 });
        expect(await store.sessions.turns(theirs, { offset: 0, limit: 10 })).toEqual({ rows: [], total: 0 });
        expect(await store.sessions.delete(theirs)).toBe(false);
        await store.requests.accept(request({ owner: `not ${owner}`, sessionId: 's1' }));
        expect(await store.sessions.delete(theirs)).toBe(true);
        expect((await store.sessions.turns({ ...theirs, owner }, { offset: 0, limit: 10 })).total).toBe(1);
      });

      test('cannot be reached by a name that runs two fields together', async () => {
        await store.requests.accept(request({ owner: 'a', requestId: 'b","c' }));
        expect(await store.requests.find({ owner: 'a","b', requestId: 'c' })).toBeUndefined();
      });
    });

    describe('keys', () => {
      fresh();

      test('are put, replaced, listed by age and revoked once', async () => {
        const old = key({ keyId: 'old', createdAt: 1, description: null });
        await store.keys.put(key({ keyId: 'new', createdAt: 2, role: 'admin' }));
        await store.keys.put(key({ keyId: 'old', createdAt: 1, description: 'to be replaced' }));
        await store.keys.put(old);
        expect(await store.keys.list()).toEqual([old, key({ keyId: 'new', createdAt: 2, role: 'admin' })]);
        expect(await store.keys.revoke('old', 77)).toBe(true);
        expect(await store.keys.revoke('old', 88)).toBe(false);
        expect(await store.keys.revoke('none', 88)).toBe(false);
        expect((await store.keys.list())[0]).toEqual({ ...old, revokedAt: 77 });
      });
    });

    describe('agents', () => {
      fresh();

      test('are put, replaced, listed by age and removed', async () => {
        await store.agents.put({ agentId: 'b', definition: '{"v":1}', createdAt: 2 });
        await store.agents.put({ agentId: 'a', definition: '{}', createdAt: 1 });
        await store.agents.put({ agentId: 'b', definition: '{"v":2}', createdAt: 2 });
        expect(await store.agents.list()).toEqual([
          { agentId: 'a', definition: '{}', createdAt: 1 },
          { agentId: 'b', definition: '{"v":2}', createdAt: 2 },
        ]);
        expect(await store.agents.remove('a')).toBe(true);
        expect(await store.agents.remove('a')).toBe(false);
        expect(await store.agents.list()).toHaveLength(1);
      });
    });

    describe('counters', () => {
      fresh();

      test('are set, not added, and old slices are dropped', async () => {
        const count = (slice: number, value: number) => ({ principal: 'ann', name: 'requests', slice, count: value });
        await store.counters.save([count(100, 1), count(200, 2)], 0);
        await store.counters.save([count(200, 5), count(300, 1)], 200);
        expect(await store.counters.load(0)).toEqual([count(200, 5), count(300, 1)]);
        expect(await store.counters.load(300)).toEqual([count(300, 1)]);
        await store.counters.save([], 1_000);
        expect(await store.counters.load(0)).toEqual([]);
      });

      test('of one slice are kept apart by principal and name', async () => {
        const rows = ['ann', 'bob'].flatMap((principal) =>
          ['calls', 'requests'].map((name, index) => ({ principal, name, slice: 100, count: index })),
        );
        await store.counters.save(rows, 0);
        expect(await store.counters.load(0)).toEqual(rows);
      });
    });

    test('many writers at once keep the order of each request', async () => {
      const writers = Array.from({ length: 50 }, (_, index) =>
        request({ requestId: `r${index}`, owner: `${owner}-${index % 7}` }),
      );
      await Promise.all(
        writers.map(async (row, index) => {
          await store.requests.accept(row);
          await store.requests.start(row);
          let sequence = 0;
          for (let size = 1; size <= 5; size += 1) {
            const part = Array.from({ length: size }, () =>
              frame(sequence++, { text: `${index}/${sequence}`, isFinal: sequence === 15 }),
            );
            // Two calls without waiting in between: they must not overtake each other.
            await Promise.all([
              store.requests.append(row, part.slice(0, 1)),
              store.requests.append(row, part.slice(1)),
            ]);
          }
        }),
      );
      for (const [index, row] of writers.entries()) {
        const frames = await store.requests.frames(row, ALL);
        expect(frames.map(({ text }) => text)).toEqual(Array.from({ length: 15 }, (_, at) => `${index}/${at + 1}`));
        expect(frames.at(-1)?.isFinal).toBe(true);
      }
      const open = await store.requests.unfinished();
      expect(open.filter((row) => row.owner.startsWith(`${owner}-`))).toEqual([]);
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

/** A request of Ann's to the echo agent, with what the test cares about. */
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

function sessionRow(fields: Partial<SessionRow> = {}): SessionRow {
  return { owner: 'ann', agentId: 'echo', sessionId: 's1', title: null, createdAt: 100, updatedAt: 100, ...fields };
}

function key(fields: Partial<KeyRow> & { keyId: string }): KeyRow {
  return {
    hash: `hash of ${fields.keyId}`,
    agentId: 'ann',
    role: 'agent',
    description: 'd',
    createdAt: 1,
    revokedAt: null,
    ...fields,
  };
}

const ODD_TEXT = '{"text":"line\nbreak, comma, \u2028 \\" é 漢 😀 \\ud800"}';

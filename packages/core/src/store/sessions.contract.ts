import { beforeEach, describe, expect, test } from 'vitest';
import { heldOf } from '../../test-support/held-runs.ts';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import { ALL, frame, requestRow } from './requests.contract.ts';
import type { RequestKey, RequestRow, SessionRow, Store } from './store.ts';

/** The contract of every store for sessions and their turns. `open` returns a fresh, empty one. */
export function describeSessions(name: string, open: OpenStore): void {
  describe(`sessions in ${name}`, () => {
    let store: Store;
    let owner = '';
    sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });

    const ann = (requestId: string): RequestKey => ({ owner, requestId });
    const request = (fields: Partial<RequestRow> = {}): RequestRow => requestRow({ owner, ...fields });
    const session = (fields: Partial<SessionRow> = {}): SessionRow => sessionRow({ owner, ...fields });

    test('what a foreign agent calls a session is kept with it, for its owner and agent alone, and goes with it', async () => {
      const key = { owner, agentId: 'partner', sessionId: 's1' };
      await store.sessions.create({ ...key, title: null, cwd: null, createdAt: 1, updatedAt: 1 });
      expect(await store.sessions.remote(key)).toBeNull();
      await store.sessions.setRemote(key, '{"context_id":"c1"}');
      expect(await store.sessions.remote(key)).toBe('{"context_id":"c1"}');
      expect(await store.sessions.remote({ ...key, owner: `${owner}-other` })).toBeNull();
      expect(await store.sessions.remote({ ...key, agentId: 'other' })).toBeNull();
      await store.sessions.setRemote({ ...key, sessionId: 'gone' }, 'x');
      expect(await store.sessions.remote({ ...key, sessionId: 'gone' })).toBeNull();
      await store.sessions.delete(key);
      expect(await store.sessions.remote(key)).toBeNull();
    });

    test('are made once, and left as they are', async () => {
      await store.sessions.create(session({ title: 'first' }));
      await store.sessions.create(session({ title: 'second', updatedAt: 999 }));
      const { rows, total } = await store.sessions.list(owner, { offset: 0, limit: 10 });
      expect(rows).toEqual([session({ title: 'first' })]);
      expect(total).toBe(1);
    });

    test('are found by the folder of their client, and by their id with every agent', async () => {
      await store.sessions.create(session({ sessionId: 'a', cwd: '/work' }));
      await store.sessions.create(session({ sessionId: 'a', agentId: 'other', updatedAt: 900 }));
      await store.sessions.create(session({ sessionId: 'b' }));
      const page = await store.sessions.list(owner, { offset: 0, limit: 10, cwd: '/work' });
      expect(page).toEqual({ rows: [session({ sessionId: 'a', cwd: '/work' })], total: 1 });
      expect((await store.sessions.named(owner, 'a')).map(({ agentId }) => agentId)).toEqual(['other', 'echo']);
      expect(await store.sessions.named('unknown', 'a')).toEqual([]);
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

    test('a NUL character in a title is refused rather than cut off', async () => {
      await expect(store.sessions.create(session({ title: 'a\0' }))).rejects.toThrow('NUL');
    });

    test('are listed by page, last used first, optionally for one agent', async () => {
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

    test('are known to their agent until they are deleted', async () => {
      const agentId = `agent-of-${owner}`;
      await store.sessions.create(session({ agentId, sessionId: 'a' }));
      await store.sessions.create(session({ agentId, sessionId: 'a', owner: 'eve' }));
      await store.sessions.create(session({ sessionId: 'b' }));
      await store.sessions.delete({ owner: 'eve', agentId, sessionId: 'a' });
      expect(await store.sessions.allWith(agentId)).toEqual([{ owner, sessionId: 'a' }]);
    });

    test('of the same moment are listed latest made first', async () => {
      for (const sessionId of ['b', 'a', 'c']) await store.sessions.create(session({ sessionId }));
      const { rows } = await store.sessions.list(owner, { offset: 0, limit: 10 });
      expect(rows.map(({ sessionId }) => sessionId)).toEqual(['c', 'a', 'b']);
    });

    test('another owner does not see, read or delete one', async () => {
      await store.requests.accept(request({ sessionId: 's1' }));
      const theirs = { owner: `not ${owner}`, agentId: 'echo', sessionId: 's1' };
      expect(await store.sessions.list(`not ${owner}`, { offset: 0, limit: 10 })).toEqual({ rows: [], total: 0 });
      expect(await store.sessions.turns(theirs, { offset: 0, limit: 10, maxBytes: PLENTY })).toEqual({
        rows: [],
        total: 0,
      });
      expect(await store.sessions.delete(theirs)).toBe(false);
      await store.requests.accept(request({ owner: `not ${owner}`, sessionId: 's1' }));
      expect(await store.sessions.delete(theirs)).toBe(true);
      expect((await store.sessions.turns({ ...theirs, owner }, { offset: 0, limit: 10, maxBytes: PLENTY })).total).toBe(
        1,
      );
    });

    describe('that were last used long ago', () => {
      const names = async () => {
        const { rows } = await store.sessions.list(owner, { offset: 0, limit: 10 });
        return rows.map(({ agentId, sessionId }) => `${agentId}/${sessionId}`).sort();
      };

      // Other tests of this store have left old requests and sessions.
      beforeEach(async () => {
        await store.requests.purge(Number.MAX_SAFE_INTEGER);
        await store.sessions.purge(Number.MAX_SAFE_INTEGER);
      });

      test('are forgotten once no request of theirs is left', async () => {
        for (const [requestId, agentId] of [
          ['r1', 'echo'],
          ['r2', 'other'],
        ] as const) {
          const row = request({ requestId, agentId, sessionId: 's1', acceptedAt: 100 });
          await store.requests.accept(row);
          if (agentId === 'echo') await store.requests.append(heldOf(store, row), [frame(0, { isFinal: true })]);
        }
        await store.sessions.create(session({ sessionId: 'empty', updatedAt: 100 }));
        await store.sessions.create(session({ sessionId: 'young', updatedAt: 300 }));
        expect(await store.sessions.purge(200)).toBe(1);
        expect(await names()).toEqual(['echo/s1', 'echo/young', 'other/s1']);
        await store.requests.purge(200);
        expect(await store.sessions.purge(200)).toBe(1);
        expect(await names()).toEqual(['echo/young', 'other/s1']);
      });

      test('are purged by the hundred, including those behind sessions in use', async () => {
        for (let index = 0; index < 250; index += 1) {
          await store.sessions.create(session({ sessionId: `used${index}`, updatedAt: 900 }));
        }
        await store.sessions.create(session({ sessionId: 'old', updatedAt: 100 }));
        expect(await store.sessions.purge(500)).toBe(1);
        expect((await store.sessions.list(owner, { offset: 0, limit: 1 })).total).toBe(250);
        expect(await store.sessions.purge(1_000)).toBe(250);
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
            await store.requests.append(heldOf(store, row), [
              frame(0),
              frame(1, { isFinal: true, text: `final ${index}` }),
            ]);
          else await store.requests.append(heldOf(store, row), [frame(0)]);
        }
      });

      test('are given by page, newest first, with the final frame once there is one', async () => {
        expect(await store.sessions.turns(conversation(), { offset: 0, limit: 2, maxBytes: PLENTY })).toEqual({
          rows: [
            { requestId: 'r4', envelope: '{"n":4}', final: null, acceptedAt: 4 },
            { requestId: 'r3', envelope: '{"n":3}', final: 'final 3', acceptedAt: 3 },
          ],
          total: 5,
        });
        const { rows } = await store.sessions.turns(conversation(), { offset: 4, limit: 2, maxBytes: PLENTY });
        expect(rows.map(({ requestId }) => requestId)).toEqual(['r0']);
      });

      test('before one of them exclude it and later ones; before one that is not recorded yet, none', async () => {
        const before = async (requestId: string) => {
          const { rows } = await store.sessions.turns(conversation(), {
            offset: 0,
            limit: 2,
            maxBytes: PLENTY,
            before: requestId,
          });
          return rows.map((turn) => turn.requestId);
        };
        expect(await before('r3')).toEqual(['r2', 'r1']);
        expect(await before('r0')).toEqual([]);
        expect(await before('not yet')).toEqual(['r4', 'r3']);
      });

      test('end before they are too large, and have one at least', async () => {
        const idsIn = async (maxBytes: number, before?: string) => {
          const { rows, total } = await store.sessions.turns(conversation(), { offset: 0, limit: 9, maxBytes, before });
          expect(total).toBe(5);
          return rows.map(({ requestId }) => requestId);
        };
        // The newest turn has 7 bytes, each earlier one 14.
        expect(await idsIn(35)).toEqual(['r4', 'r3', 'r2']);
        expect(await idsIn(34)).toEqual(['r4', 'r3']);
        expect(await idsIn(0)).toEqual(['r4']);
        expect(await idsIn(13, 'r3')).toEqual(['r2']);
        expect(await idsIn(PLENTY)).toHaveLength(5);
      });

      test('of another session, agent or none at all are not among them', async () => {
        await store.requests.accept(request({ requestId: 'x1', sessionId: 's2' }));
        await store.requests.accept(request({ requestId: 'x2', sessionId: 's1', agentId: 'other' }));
        await store.requests.accept(request({ requestId: 'x3' }));
        expect((await store.sessions.turns(conversation(), { offset: 0, limit: 10, maxBytes: PLENTY })).total).toBe(5);
      });

      test('go with their session; what still runs keeps running outside of it', async () => {
        expect(await store.sessions.delete(conversation())).toBe(true);
        expect(await store.sessions.delete(conversation())).toBe(false);
        expect(await store.sessions.turns(conversation(), { offset: 0, limit: 10, maxBytes: PLENTY })).toEqual({
          rows: [],
          total: 0,
        });
        expect(await store.requests.find(ann('r0'))).toBeUndefined();
        expect(await store.requests.frames(ann('r1'), ALL)).toEqual([]);
        const running = ann('r4');
        await store.requests.append(heldOf(store, running), [frame(1, { isFinal: true })]);
        expect(await store.requests.find(running)).toMatchObject({ state: 'finished', sessionId: null });
        await store.requests.accept(request({ requestId: 'r9', sessionId: 's1' }));
        expect((await store.sessions.turns(conversation(), { offset: 0, limit: 10, maxBytes: PLENTY })).total).toBe(1);
      });
    });
  });
}

function sessionRow(fields: Partial<SessionRow> = {}): SessionRow {
  return {
    owner: 'ann',
    agentId: 'echo',
    sessionId: 's1',
    title: null,
    cwd: null,
    createdAt: 100,
    updatedAt: 100,
    ...fields,
  };
}

const PLENTY = 1 << 20;

import type { AnswerEnd } from '@dragoman/protocols';
import { beforeEach, describe, expect, test } from 'vitest';
import { heldOf } from '../../test-support/held-runs.ts';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import { frame, requestRow } from './requests.contract.ts';
import { SCANNED } from './sql/request-list.ts';
import type { ListedRequest, RequestQuery, RequestRow, Store } from './store.ts';

/** The contract of every store for request lists. `open` returns a fresh, empty one. */
export function describeRequestList(name: string, open: OpenStore): void {
  describe(`the list of requests in ${name}`, () => {
    let store: Store;
    let owner = '';
    const fresh = sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });

    const accept = async (requestId: string, fields: Partial<RequestRow> = {}) => {
      const row = requestRow({ owner, requestId, acceptedAt: 100, ...fields });
      await store.requests.accept(row);
      return row;
    };
    const answer = async (requestId: string, at: number, end: AnswerEnd, fields: Partial<RequestRow> = {}) => {
      const row = await accept(requestId, fields);
      await store.requests.append(heldOf(store, row), [frame(0, { isFinal: true, change: { at, end } })]);
    };
    const list = async (query: Partial<RequestQuery> = {}) => {
      const { rows, total } = await store.requests.list({ owner, limit: 100, ...query });
      return { ids: rows.map(({ requestId }) => requestId), total };
    };

    test('a request is listed as far as it has come, with the time of its last change', async () => {
      const listed = async (): Promise<ListedRequest | undefined> =>
        (await store.requests.list({ owner, limit: 1 })).rows[0];
      const row = await accept('r1', { sessionId: 's' });
      const { requestId, agentId, sessionId, acceptedAt } = row;
      const known = { owner, requestId, agentId, sessionId, acceptedAt, protocol: 'e2a' };
      expect(await listed()).toEqual({ ...known, progress: 'accepted', changedAt: 100 });
      await store.requests.start(heldOf(store, row));
      expect(await listed()).toEqual({ ...known, progress: 'started', changedAt: 100 });
      await store.requests.append(heldOf(store, row), [frame(0, { change: { at: 150 } }), frame(1)]);
      expect(await listed()).toEqual({ ...known, progress: 'answering', changedAt: 150 });
      await store.requests.append(heldOf(store, row), [frame(2)]);
      expect(await listed()).toEqual({ ...known, progress: 'answering', changedAt: 150 });
      const end = { isFinal: true, change: { at: 200, end: 'failed' } } as const;
      await store.requests.append(heldOf(store, row), [frame(3), frame(4, end)]);
      expect(await listed()).toEqual({ ...known, progress: 'failed', changedAt: 200 });
    });

    test('a request that was recorded with its whole answer is listed by its end', async () => {
      const frames = [
        frame(0, { change: { at: 110 } }),
        frame(1, { isFinal: true, change: { at: 120, end: 'refused' } }),
      ];
      await store.requests.acceptAnswered(requestRow({ owner, acceptedAt: 100, state: 'started' }), frames);
      const { rows } = await store.requests.list({ owner, limit: 9 });
      expect(rows).toMatchObject([{ requestId: 'r1', progress: 'refused', changedAt: 120 }]);
    });

    test('the newest change comes first, open requests among ended ones', async () => {
      await answer('early', 110, 'completed');
      await accept('open', { acceptedAt: 120 });
      await answer('late', 130, 'failed');
      expect(await list()).toEqual({ ids: ['late', 'open', 'early'], total: 3 });
    });

    describe('conditions', () => {
      beforeEach(async () => {
        await answer('a', 110, 'completed', { sessionId: 's' });
        await answer('b', 120, 'cancelled', { agentId: 'other' });
        await answer('c', 130, 'failed', { sessionId: 's' });
        await accept('d', { acceptedAt: 140, sessionId: 's' });
        await accept('e', { acceptedAt: 150, agentId: 'other', sessionId: 's' });
      });

      test.each<[string, Partial<RequestQuery>, string[]]>([
        ['none', {}, ['e', 'd', 'c', 'b', 'a']],
        ['the agent', { agentId: 'echo' }, ['d', 'c', 'a']],
        ['the session with any agent', { sessionId: 's' }, ['e', 'd', 'c', 'a']],
        ['the session with one agent', { agentId: 'echo', sessionId: 's' }, ['d', 'c', 'a']],
        ['a session that is not there', { sessionId: 'x' }, []],
        ['one way to end', { progress: ['failed'] }, ['c']],
        ['several states', { progress: ['accepted', 'cancelled'] }, ['e', 'd', 'b']],
        ['a state of open requests', { progress: ['answering'] }, []],
        ['the time of the last change, inclusive', { changedSince: 130 }, ['e', 'd', 'c']],
        ['all of them', { agentId: 'echo', sessionId: 's', progress: ['completed'], changedSince: 100 }, ['a']],
      ])('%s', async (_, query, ids) => {
        expect(await list(query)).toEqual({ ids, total: ids.length });
      });

      test('a page continues after the last request of the previous page, and every page has the total', async () => {
        const seen: string[] = [];
        let after: ListedRequest | undefined;
        do {
          const { rows, total } = await store.requests.list({ owner, limit: 2, after });
          expect(total).toBe(5);
          seen.push(...rows.map(({ requestId }) => requestId));
          after = rows.at(-1);
        } while (after !== undefined);
        expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
      });
    });

    describe('what envelopes say', () => {
      const envelope = (protocol: string, content: string) =>
        JSON.stringify({ provenance: { source_protocol: protocol }, params: { content } });
      beforeEach(async () => {
        await answer('a', 110, 'completed', { envelope: envelope('acp', 'Hello 100% "sure"') });
        await answer('b', 120, 'completed', { envelope: envelope('a2a', 'hello\\there') });
        await answer('c', 130, 'failed', { envelope: '{"params":{"content":"hello_you"}}' });
        await accept('d', { acceptedAt: 140, envelope: envelope('acp', 'ß') });
      });

      test.each<[string, Partial<RequestQuery>, string[]]>([
        ['a protocol', { protocol: 'acp' }, ['d', 'a']],
        ['the protocol of envelopes that name none', { protocol: 'e2a' }, ['c']],
        ['a text in any case', { text: 'HELLO' }, ['c', 'b', 'a']],
        ['a text that has to be escaped in JSON', { text: '100% "sure"' }, ['a']],
        ['a backslash', { text: 'o\\t' }, ['b']],
        ['an underscore, which stands for itself', { text: 'o_y' }, ['c']],
        ['a percent sign, which stands for itself', { text: '0% ' }, ['a']],
        ['a letter beyond ASCII', { text: 'ß' }, ['d']],
        ['both, and the other conditions', { text: 'hello', protocol: 'e2a', progress: ['failed'] }, ['c']],
      ])('%s', async (_, query, ids) => {
        expect((await list(query)).ids).toEqual(ids);
      });

      test('a full page returns where to continue, and so does one that has reached its limit', async () => {
        const first = await store.requests.list({ owner, limit: 1, text: 'hello' });
        expect(first.rows).toMatchObject([{ requestId: 'c' }]);
        const second = await store.requests.list({ owner, limit: 5, text: 'hello', after: first.lookedUpTo });
        expect(second.rows.map(({ requestId }) => requestId)).toEqual(['b', 'a']);
        expect(second.lookedUpTo).toBeUndefined();
        for (let at = 0; at < 600; at++) await accept(`more-${at}`, { acceptedAt: 200 + at });
        const none = await store.requests.list({ owner, limit: 5, text: 'hello' });
        expect(none.rows).toEqual([]);
        expect((await list({ text: 'hello', after: none.lookedUpTo })).ids).toEqual(['c', 'b', 'a']);
      });
    });

    test('of changes at the same time, the request that was recorded last comes first', async () => {
      for (const requestId of ['one', 'two', 'three']) await answer(requestId, 110, 'completed');
      const { rows } = await store.requests.list({ owner, limit: 1 });
      expect(rows).toMatchObject([{ requestId: 'three' }]);
      expect(await list({ after: rows[0] })).toEqual({ ids: ['two', 'one'], total: 3 });
    });

    test("another owner's requests are not listed", async () => {
      await answer('mine', 110, 'completed');
      await answer('theirs', 120, 'completed', { owner: `${owner}-2` });
      expect(await list()).toEqual({ ids: ['mine'], total: 1 });
      expect(await list({ owner: `not ${owner}` })).toEqual({ ids: [], total: 0 });
    });

    describe('of everybody', () => {
      fresh();

      test('requests are listed across owners and agents, with and without an agent', async () => {
        await answer('a', 110, 'completed', { owner: 'ann' });
        await answer('b', 120, 'completed', { owner: 'bob', agentId: 'other' });
        await answer('c', 130, 'completed', { owner: 'bob' });
        await accept('d', { owner: 'cy', acceptedAt: 140 });
        expect(await list({ owner: undefined })).toEqual({ ids: ['d', 'c', 'b', 'a'], total: undefined });
        expect(await list({ owner: undefined, agentId: 'echo' })).toEqual({
          ids: ['d', 'c', 'a'],
          total: undefined,
        });
      });

      test('conditions hold across owners, and a page continues where the one before ended', async () => {
        await answer('a', 110, 'failed', { owner: 'ann', sessionId: 's' });
        await answer('b', 120, 'completed', { owner: 'bob', sessionId: 's' });
        await answer('c', 130, 'failed', { owner: 'bob' });
        await accept('d', { owner: 'cy', acceptedAt: 125, sessionId: 's' });
        const ids = async (query: Partial<RequestQuery>) => (await list({ owner: undefined, ...query })).ids;
        expect(await ids({ progress: ['failed'] })).toEqual(['c', 'a']);
        expect(await ids({ sessionId: 's' })).toEqual(['d', 'b', 'a']);
        expect(await ids({ changedSince: 120 })).toEqual(['c', 'd', 'b']);
        const seen: string[] = [];
        let after: ListedRequest | undefined;
        do {
          const { rows } = await store.requests.list({ owner: undefined, limit: 1, after });
          seen.push(...rows.map(({ requestId }) => requestId));
          after = rows.at(-1);
        } while (after !== undefined);
        expect(seen).toEqual(['c', 'd', 'b', 'a']);
      });

      test('a rare condition is looked for some at a time, and every look says where the next one begins', async () => {
        await answer('first', 110, 'failed', { owner: 'ann' });
        await Promise.all(
          Array.from({ length: SCANNED }, (_, at) => answer(`more-${at}`, 200 + at, 'completed', { owner: 'bob' })),
        );
        await accept('open', { owner: 'cy', acceptedAt: 120 });
        const query = { owner: undefined, limit: 5, progress: ['failed', 'accepted'] } as const;
        const none = await store.requests.list(query);
        expect(none).toMatchObject({ rows: [], lookedUpTo: { requestId: 'more-0', owner: 'bob', changedAt: 200 } });
        const rest = await store.requests.list({ ...query, after: none.lookedUpTo });
        expect(rest.rows.map(({ requestId }) => requestId)).toEqual(['open', 'first']);
        expect(rest.lookedUpTo).toBeUndefined();
      });

      test('a purged request is gone from the list too', async () => {
        await answer('a', 110, 'completed');
        await store.requests.purge(Number.MAX_SAFE_INTEGER);
        expect(await list()).toEqual({ ids: [], total: 0 });
      });
    });
  });
}

import type { RequestQuery, Store } from '@dragoman/core';
import { expect, test } from 'vitest';
import { isFailure } from '../http/problem.ts';
import type { InboundRequest } from '../http/route.ts';
import { requestListRoutes } from './request-lists.ts';

const row = (requestId: string, changedAt: number) => ({
  requestId,
  changedAt,
  owner: 'ada',
  agentId: 'echo',
  sessionId: null,
  protocol: 'e2a',
  acceptedAt: 1,
  progress: 'answering' as const,
});

test('a page ends with the cursor that the next one begins after', async () => {
  const { read, queries } = routeOver([row('c', 3), row('b', 2), row('a', 1)]);
  const first = await read('/e2a/requests', 'limit=2&state=running');
  expect(first).toMatchObject({ requests: [{ request_id: 'c', state: 'running' }, { request_id: 'b' }], total: 3 });
  await read('/e2a/requests', `limit=2&cursor=${first['next_cursor']}`);
  expect(queries).toEqual([
    expect.objectContaining({ owner: 'ada', progress: ['started', 'answering'], limit: 3 }),
    expect.objectContaining({ owner: 'ada', after: { changedAt: 2, owner: 'ada', requestId: 'b' }, limit: 3 }),
  ]);
});

test('a search continues where the store stopped looking, and its cursor is where it stopped itself', async () => {
  const { read, queries } = routeOver([row('b', 2), row('a', 1)], { looksAt: 1 });
  const first = await read('/e2a/requests', 'limit=1&text=hello');
  expect(first).toMatchObject({ requests: [{ request_id: 'b' }], total: null, next_cursor: expect.any(String) });
  expect(queries).toMatchObject([
    { text: 'hello', limit: 2 },
    { after: { requestId: 'b' }, limit: 1 },
  ]);
  const { read: readNone, queries: looks } = routeOver([], { looksAt: 0 });
  expect(await readNone('/e2a/requests', 'protocol=acp')).toMatchObject({ requests: [], next_cursor: null });
  expect(looks).toHaveLength(1);
});

test('an administrator sees all agents, an agent only itself whatever it requests', async () => {
  const { read, queries } = routeOver([]);
  await read('/admin/v1/requests', '');
  await read('/admin/v1/requests', 'owner=bob');
  await read('/e2a/requests', 'owner=bob');
  expect(queries.map(({ owner }) => owner)).toEqual([undefined, 'bob', 'ada']);
});

test.each([
  ['state=runing', /state must be one of waiting, .*; got "runing"/],
  ['since=yesterday', /since must be a time/],
  ['cursor=%00', /cursor must be the next_cursor of a page/],
  ['limit=0', /limit must be a whole number from 1 to 200/],
])('%s is refused with what was expected', async (query, words) => {
  const { read } = routeOver([]);
  expect((await read('/e2a/requests', query))['message']).toMatch(words);
});

function routeOver(rows: readonly ReturnType<typeof row>[], { looksAt }: { readonly looksAt?: number } = {}) {
  const queries: RequestQuery[] = [];
  const list = async (query: RequestQuery) => {
    queries.push(query);
    if (looksAt !== undefined) {
      const from = rows.findIndex(({ requestId }) => requestId === query.after?.requestId) + 1;
      const some = rows.slice(from, from + looksAt);
      return { rows: some, lookedUpTo: from + looksAt < rows.length ? some.at(-1) : undefined };
    }
    return { rows: rows.slice(0, query.limit), total: rows.length };
  };
  const routes = requestListRoutes({ requests: { list } } as unknown as Store);
  const read = async (path: string, query: string): Promise<Record<string, unknown>> => {
    const request = { query: new URLSearchParams(query), principal: { id: 'ada' } } as unknown as InboundRequest;
    const answer = await routes.find((route) => route.path === path)?.handle(request);
    if (answer === undefined) throw new Error('there is no such route');
    return isFailure(answer) ? { ...answer } : { ...(answer.json as object) };
  };
  return { read, queries };
}

import { expect, test } from 'vitest';
import { realServer } from '../test-support/real-server.ts';

test('sessions are made, listed and deleted', async () => {
  const { client } = await realServer();
  expect(await client.sessions.create({ session: 'tea', title: 'About tea', agent: 'echo' })).toEqual({
    session_id: 'tea',
  });
  const { session_id } = await client.sessions.create();
  const { sessions, total, page_idx } = await client.sessions.list();
  expect(sessions.map((session) => session.session_id).toSorted()).toEqual([session_id, 'tea'].toSorted());
  expect({ total, page_idx }).toEqual({ total: 2, page_idx: 1 });
  expect(await client.sessions.delete('tea', { agent: 'echo' })).toEqual({ session_id: 'tea', deleted: true });
  await expect(client.sessions.delete('tea')).rejects.toMatchObject({ code: 'E2A.NOT_FOUND' });
});

test('the history of a session is its turns, newest first', async () => {
  const { client } = await realServer();
  await client.send('first', { session: 's' }).final();
  await client.send('tea', { session: 's' }).final();
  await client.send('elsewhere', { session: 'other' }).final();
  const page = await client.history('s');
  expect(page).toMatchObject({ session_id: 's', page_idx: 1, total_pages: 1, total: 2 });
  expect(page.messages.map(({ params, status }) => [params['content'], status])).toEqual([
    ['tea', 'succeeded'],
    ['first', 'succeeded'],
  ]);
  expect((await client.history('s', { page: 2 })).messages).toEqual([]);
});

test('a method of an agent gives its result', async () => {
  const { client } = await realServer();
  expect(await client.request('count.up', { count: 3 }, { agent: 'counter' })).toEqual({ count: 3 });
});

test('anybody can read the health of the server', async () => {
  const { url } = await realServer();
  const { createClient } = await import('./client.ts');
  expect(await createClient({ url }).health()).toMatchObject({ status: 'healthy', service: 'a2e-server' });
});

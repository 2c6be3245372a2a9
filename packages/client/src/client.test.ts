import type { E2AResponse } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { all } from '../test-support/all.ts';
import { impatient, realServer } from '../test-support/real-server.ts';
import { createClient } from './client.ts';
import { DragomanError } from './dragoman-error.ts';

describe('send', () => {
  test('gives the frames as they come', async () => {
    const { client } = await realServer();
    const answer = client.send('to be or not', { session: 's1' });
    const frames = await all(answer);
    expect(frames.map(({ sequence, response_kind, body }) => [sequence, response_kind, body])).toEqual([
      [0, 'e2a.chunk', { delta_kind: 'text', delta: 'to ' }],
      [1, 'e2a.chunk', { delta_kind: 'text', delta: 'be ' }],
      [2, 'e2a.chunk', { delta_kind: 'text', delta: 'or ' }],
      [3, 'e2a.chunk', { delta_kind: 'text', delta: 'not' }],
      [4, 'e2a.complete', { result: { content: 'to be or not', words: 4 } }],
    ]);
    expect(frames[0]).toMatchObject({ request_id: answer.requestId, session_id: 's1', method: 'chat.send' });
  });

  test('gives the text, the result and the last frame, in any order and as often as wanted', async () => {
    const { client } = await realServer();
    const answer = client.send('to be');
    const [text, final] = await Promise.all([answer.text(), answer.final()]);
    expect(text).toBe('to be');
    expect(final).toMatchObject({ is_final: true, status: 'succeeded' });
    expect(await answer.final()).toBe(final);
    expect(await answer.result()).toEqual({ content: 'to be', words: 2 });
    expect(await all(answer)).toEqual([]);
  });

  test('gives the text of the result when there were no chunks', async () => {
    const { client } = await realServer();
    expect(await client.send('?', { agent: 'silent' }).text()).toBe('only a result');
    expect(await client.send('no stream', { stream: false }).text()).toBe('no stream');
  });

  test('takes any part of an envelope, and options win over it', async () => {
    const { client } = await realServer();
    const input = { request_id: 'mine', agent_ref: { id: 'echo' }, params: { count: 2 }, channel: 'test' };
    const answer = client.send(input, { agent: 'counter' });
    expect(answer.requestId).toBe('mine');
    expect(await answer.text()).toBe('0 1 ');
    expect(await answer.final()).toMatchObject({ channel: 'test', agent_ref: { id: 'counter' } });
  });

  test('sends when it is called, not when the answer is read', async () => {
    const { client } = await realServer();
    const { requestId } = client.send('unread');
    await expect.poll(() => client.resume(requestId).text().catch(String)).toBe('unread');
  });

  test('of a unary request gives the final frame alone', async () => {
    const { client } = await realServer();
    const frames = await all(client.send('a b c', { stream: false }));
    expect(frames.map(({ sequence, is_final }) => [sequence, is_final])).toEqual([[0, true]]);
  });

  test('many at once each give their own', async () => {
    const { client } = await realServer();
    const texts = Array.from({ length: 40 }, (_, n) => `this is number ${n}`);
    expect(await Promise.all(texts.map((text) => client.send(text).text()))).toEqual(texts);
  });

  test('with an idempotency key is done once, also by another client', async () => {
    const { client, url, key } = await realServer();
    const first = await client.send('once', { idempotencyKey: 'k-1' }).final();
    const again = await createClient({ url, key }).send('once', { idempotencyKey: 'k-1' }).final();
    expect(again.response_id).toBe(first.response_id);
    expect(() => client.send('x', { idempotencyKey: 'a b' })).toThrow(
      'idempotencyKey must be 1 to 255 visible characters',
    );
  });
});

describe('a reader', () => {
  test('that leaves early leaves the work running, and the next continues where it stopped', async () => {
    const { client } = await realServer();
    const answer = client.send({ params: { count: 6, everyMs: 5 } }, { agent: 'counter' });
    const seen: number[] = [];
    for await (const frame of answer) {
      seen.push(frame.sequence);
      if (frame.sequence === 2) break;
    }
    for await (const frame of answer) seen.push(frame.sequence);
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(await answer.text()).toBe('0 1 2 3 4 5 ');
  });

  test('is alone; waiting for the end waits for its reader', async () => {
    const { client } = await realServer();
    const answer = client.send('a b');
    const reading = all(answer);
    await expect(all(answer)).rejects.toThrow('one reader at a time');
    const final = await answer.final();
    expect((await reading).at(-1)).toBe(final);
  });
});

describe('resume', () => {
  test('gives the frames after any frame, also to another client and after the end', async () => {
    const { client, url, key } = await realServer();
    const answer = client.send('a b c d');
    const frames = await all(answer);
    for (const after of [-1, 0, 2, 3, 4]) {
      const rest = createClient({ url, key }).resume(answer.requestId, { after });
      expect(await all(rest)).toEqual(frames.slice(after + 1));
      expect(await rest.final()).toEqual(frames.at(-1));
    }
    expect(await client.resume(answer.requestId, { after: 1 }).text()).toBe('c d');
  });

  test('of what was no stream gives the final frame, as the first answer did', async () => {
    const { client, url, key } = await realServer();
    const answer = client.send('a b c d', { stream: false });
    const final = await answer.final();
    expect(await all(createClient({ url, key }).resume(answer.requestId))).toEqual([final]);
  });

  test('of an unknown request reports that', async () => {
    const { client } = await realServer();
    await expect(client.resume('nothing').final()).rejects.toMatchObject({ code: 'not_found', status: 404 });
  });
});

describe('cancel', () => {
  test('ends the work with E2A.CANCELLED', async () => {
    const { client } = await realServer();
    const answer = client.send('go', { agent: 'forever' });
    const frames: E2AResponse[] = [];
    for await (const frame of answer) {
      frames.push(frame);
      if (frame.sequence === 0) expect(await answer.cancel()).toBe(true);
    }
    expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
    const error = await answer.text().catch((thrown: DragomanError) => thrown);
    expect(error).toBeInstanceOf(DragomanError);
    expect(error).toMatchObject({ code: 'E2A.CANCELLED', requestId: answer.requestId, retryable: false });
    expect(error instanceof DragomanError && error.is('cancelled')).toBe(true);
    expect(await answer.cancel()).toBe(false);
  });

  test('waits for a request that is still on its way', async () => {
    const { client } = await realServer();
    const answer = client.send('go', { agent: 'forever' });
    expect(await answer.cancel()).toBe(true);
    expect(await answer.final()).toMatchObject({ status: 'failed' });
  });

  test('of what was refused finds nothing to end', async () => {
    const { client } = await realServer();
    const answer = client.send('go', { agent: 'nobody' });
    await expect(answer.final()).rejects.toMatchObject({ code: 'no_route' });
    expect(await answer.cancel()).toBe(false);
  });

  test('by id says whether it was running', async () => {
    const { client } = await realServer();
    const { requestId } = await client
      .send('done')
      .final()
      .then((frame) => ({ requestId: frame.request_id ?? '' }));
    expect(await client.cancel(requestId)).toBe(false);
    await expect(client.cancel('nothing')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('abort', () => {
  test('stops the waiting and leaves the work running', async () => {
    const { client } = await realServer();
    const controller = new AbortController();
    const answer = client.send({ params: { count: 5, everyMs: 20 } }, { agent: 'counter', signal: controller.signal });
    const reason = new Error('enough');
    const reading = (async () => {
      for await (const frame of answer) if (frame.sequence === 0) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    expect(await client.resume(answer.requestId).text()).toBe('0 1 2 3 4 ');
  });

  test('before anything was sent sends nothing', async () => {
    const { client } = await realServer();
    const reason = new Error('never mind');
    const answer = client.send('x', { signal: AbortSignal.abort(reason) });
    await expect(answer.final()).rejects.toBe(reason);
    await expect(client.resume(answer.requestId).final()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an error', () => {
  test("of the agent's own has its code and details", async () => {
    const { client } = await realServer();
    const answer = client.send('tea', { agent: 'failing' });
    expect((await all(answer)).map(({ response_kind }) => response_kind)).toEqual(['e2a.chunk', 'e2a.error']);
    await expect(answer.text()).rejects.toMatchObject({
      name: 'DragomanError',
      code: 'KETTLE_EMPTY',
      message: 'The kettle is empty.',
      details: { litres: 0 },
      status: undefined,
    });
  });

  test('of the envelope names every issue', async () => {
    const { client } = await realServer();
    const input = { identity_origin: 'nobody' as 'user', params: {} };
    await expect(client.send(input).final()).rejects.toMatchObject({
      code: 'invalid_message',
      status: 400,
      issues: [{ pointer: '/identity_origin' }],
    });
  });

  test('of a wrong key is reported at once, with the fix', async () => {
    const { url } = await realServer();
    const { client } = { client: impatient({ url, key: 'wrong' }) };
    await expect(client.send('x').final()).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
    await expect(createClient({ url }).send('x').final()).rejects.toMatchObject({
      code: 'unauthenticated',
      suggestions: [expect.stringContaining('Authorization')],
    });
  });

  test('of a method names the nearest one', async () => {
    const { client } = await realServer();
    await expect(client.request('session.rename', {})).rejects.toMatchObject({ code: 'E2A.UNKNOWN_METHOD' });
  });

  test('of the limit says how long to wait', async () => {
    const { admin, url } = await realServer();
    const limits = { requests_per_minute: 1 };
    const { api_key: key = '' } = await admin.admin.agents.put({
      agent_id: 'eager',
      permissions: { agents: ['*'] },
      limits,
    });
    const eager = impatient({ url, key, retry: { giveUpAfterMs: 500 } });
    await eager.send('first').final();
    const error: unknown = await eager
      .send('second')
      .final()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryable: true });
    expect(error instanceof DragomanError && error.retryAfter).toBeGreaterThan(0);
  });
});

test('a url or key that cannot be one is refused before anything is sent', () => {
  expect(() => createClient({ url: 'localhost:7420' })).toThrow('url must be the address of a server');
  expect(() => createClient({ url: 'http://user:secret@localhost' })).toThrow(/^(?!.*secret).*$/);
  expect(() => createClient({ url: 'http://localhost', key: 'top secret' })).toThrow(/^(?!.*top).*$/);
});

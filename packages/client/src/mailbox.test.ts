import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { impatient, realServer } from '../test-support/real-server.ts';
import { createClient } from './client.ts';

/** Senders without a key may write to the default agent. */
const OPEN = { config: { mailbox: { anonymous: ['echo'] } } };

test('a message is answered, with a key and without', async () => {
  const { client, url } = await realServer(OPEN);
  const answer = await client.mailbox.send({ from: 'MyAgent', message: 'hello there' });
  expect(answer).toMatchObject({ to: { name: 'MyAgent' }, metadata: { status: 'success' } });
  expect(answer.replyTo).toMatch(/^msg_\d{13}_[0-9a-f]{16}$/);
  expect(await client.mailbox.find(answer.replyTo ?? '')).toEqual(answer);
  expect(await client.mailbox.answer(answer.replyTo ?? '')).toEqual(answer);
  const anonymous = await createClient({ url }).mailbox.send({ from: 'Visitor', message: 'hello' });
  expect(anonymous.metadata.status).toBe('success');
});

test('two anonymous callers at one address with one id each ask for their own answer', async () => {
  const { url } = await realServer(OPEN);
  const { mailbox } = createClient({ url });
  const metadata = { messageId: 'msg_1' };
  const [anns, eves] = [
    await mailbox.send({ from: 'Ann', message: 'hello', metadata }),
    await mailbox.send({ from: 'Eve & Co', message: 'hello', metadata }),
  ];
  await expect(mailbox.find('msg_1')).rejects.toMatchObject({ code: 'not_found' });
  expect(await mailbox.find('msg_1', { from: 'Ann' })).toEqual(anns);
  expect(await mailbox.answer('msg_1', { from: 'Eve & Co' })).toEqual(eves);
});

test('an answer is polled until it exists, by the id of the message', async () => {
  const urls: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    urls.push(url);
    const status = urls.length < 3 ? 'received' : 'success';
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ metadata: { status } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { mailbox } = impatient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const answer = await mailbox.answer('a/b?c#d %', { everyMs: 1, from: 'Eve & Co' });
  expect(answer.metadata.status).toBe('success');
  expect(urls).toEqual(Array.from({ length: 3 }, () => '/a2a/messages/a%2Fb%3Fc%23d%20%25?from=Eve%20%26%20Co'));
});

test('a thread is read in order', async () => {
  const { client } = await realServer();
  const metadata = { threadId: 'talk' };
  const first = await client.mailbox.send({ from: 'Me', message: 'one', metadata });
  await client.mailbox.send({ from: 'Me', message: 'two', metadata: { ...metadata, replyTo: first.messageId } });
  const page = await client.mailbox.thread('talk', { limit: 3 });
  expect([page.messages.map(({ sequence }) => sequence), page.next]).toEqual([[1, 2, 3], 3]);
  const rest = await client.mailbox.thread('talk', { after: page.next ?? 0 });
  expect([rest.messages.map(({ sequence }) => sequence), rest.next]).toEqual([[4], null]);
});

test('a refusal of the mailbox is reported by code, with its text', async () => {
  const { client } = await realServer();
  const wrong = client.mailbox.send({ from: { name: 'Me', agentId: 'nobody' }, message: 'x' });
  await expect(wrong).rejects.toMatchObject({
    code: 'invalid_message',
    status: 400,
    issues: [{ message: 'Invalid agentId format (expected CAIP-2: eip155:chainId:registry:tokenId)' }],
  });
  await expect(client.mailbox.send({ from: 'Me', to: 'nobody', message: 'x' })).rejects.toMatchObject({
    code: 'not_found',
    message: 'Unknown agent "nobody".',
  });
  await expect(client.mailbox.thread('never-was')).rejects.toMatchObject({ code: 'not_found', retryable: false });
});

test.each<[string, object]>([
  ['without an id', {}],
  ['with an empty one', { messageId: '', metadata: { messageId: '' } }],
])('a broken connection is tried again, with the same id: a message %s', async (_, ids) => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    bodies.push(body);
    if (bodies.length === 1) return response.destroy();
    response.writeHead(bodies.length === 2 ? 503 : 200, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(
      bodies.length === 2
        ? '{"error":"Service unavailable","message":"later","timestamp":"2026-03-28T12:00:00.000Z"}'
        : '{"metadata":{"status":"success"}}',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const client = impatient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const answer = await client.mailbox.send({ from: 'Me', message: 'once', ...ids });
  expect(answer).toMatchObject({ metadata: { status: 'success' } });
  expect([bodies.length, new Set(bodies).size]).toEqual([3, 1]);
  expect(JSON.parse(bodies[0] ?? '').metadata.messageId).toMatch(/^msg_/);
});

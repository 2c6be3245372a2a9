import { expect, test, vi } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { Gate, OutboundRequest } from '../gate/gate.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { EndpointEmbedder } from './endpoint-embedder.ts';

function answering(status: number, text: string, reader = new JsonReader()) {
  const requests: OutboundRequest[] = [];
  const gate: Pick<Gate, 'request'> = {
    request: async (request) => {
      requests.push(request);
      const bytes = Buffer.from(text);
      return {
        status,
        headers: {},
        body: (async function* () {
          yield bytes.subarray(0, 5);
          yield bytes.subarray(5);
        })(),
      };
    },
  };
  const clock = new TestClock();
  const log = new SilentLog();
  const url = 'https://models.example/v1/embeddings';
  const embedder = new EndpointEmbedder({ gate, clock, log, url, model: 'small', credential: 'models-key', reader });
  return { embedder, requests, clock, log };
}

test('asks through the gate, by the name of a credential, and reads the vectors in any order', async () => {
  const { embedder, requests } = answering(
    200,
    '{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{}}',
  );
  expect((await embedder.embed(['one', 'two'])).map((vector) => [...vector])).toEqual([
    [expect.closeTo(0.6), expect.closeTo(0.8)],
    [0, 1],
  ]);
  expect(requests).toMatchObject([
    {
      method: 'POST',
      url: 'https://models.example/v1/embeddings',
      headers: { authorization: new CredentialUse('models-key') },
      body: { json: { model: 'small', input: ['one', 'two'] } },
    },
  ]);
});

test.each([
  ['an error', 429, '{"error":{}}'],
  ['no JSON', 200, '<html>'],
  ['too few', 200, '{"data":[{"embedding":[1,0]}]}'],
  ['other lengths', 200, '{"data":[{"embedding":[1,0]},{"embedding":[1]}]}'],
  ['no numbers', 200, '{"data":[{"embedding":["1"]},{"embedding":[1]}]}'],
])('after %s it rests, and says so once ready again', async (_, status, text) => {
  const { embedder, clock, log } = answering(status, text);
  let readied = 0;
  embedder.onReady(() => {
    readied += 1;
  });
  expect(embedder.isReady()).toBe(true);
  await expect(embedder.embed(['one', 'two'])).rejects.toThrow();
  expect(embedder.isReady()).toBe(false);
  expect(log.lines).toMatchObject([{ level: 'warn' }]);
  clock.pass(30_000);
  expect([embedder.isReady(), readied]).toEqual([true, 1]);
});

test('reads a long answer in the thread, and refuses one with too many numbers', async () => {
  const reader = new JsonReader();
  const reading = vi.spyOn(reader, 'read');
  const vector = (length: number) => JSON.stringify({ data: [{ embedding: Array(length).fill(0.123456) }] });
  const [embedded] = await answering(200, vector(20_000), reader).embedder.embed(['one']);
  expect(embedded).toHaveLength(20_000);
  expect(reading.mock.results).toMatchObject([{ value: expect.any(Promise) }]);
  await expect(answering(200, vector(200_000), reader).embedder.embed(['one'])).rejects.toThrow('not JSON');
  await reader[Symbol.asyncDispose]();
});

import { afterAll, expect, test } from 'vitest';
import { allFrames, call } from './call.ts';
import { Served } from './served.ts';
import { moduleAgent } from './system.ts';

const served = await Served.start(() => ({
  port: 0,
  agents: { echo: moduleAgent('echo'), stray: moduleAgent('stray') },
}));
afterAll(() => served[Symbol.asyncDispose]());
const key = await served.caller('ada-agent');

test('an unhandled rejection that an agent leaves behind is logged, and affects no one', async () => {
  const ask = (agent: string, requestId: string) =>
    call(served.url, {
      method: 'POST',
      path: `/e2a/agents/${agent}`,
      key,
      accept: 'application/x-ndjson',
      json: { request_id: requestId, method: 'chat.send', params: { content: 'hello' }, is_stream: true },
    });
  const running = await ask('stray', 'r1');
  const frames = running.frames();
  expect((await frames.next()).value).toContain('begun');
  for (const error of ['a promise left alone', 'a timer that throws']) {
    await expect.poll(() => served.log).toContain(error);
  }
  await call(served.url, { method: 'POST', path: '/e2a/requests/r1/cancel', key });
  expect((await frames.next()).value).toContain('E2A.CANCELLED');
  await expect.poll(() => served.log).toContain('a listener that throws');
  expect((await allFrames(await ask('echo', 'r2'))).join('')).toContain('hello');
});

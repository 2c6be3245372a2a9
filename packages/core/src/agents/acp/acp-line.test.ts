import { accept, type Json, type JsonObject } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { LimitedLog } from '../../ports/limited-log.ts';
import { AcpLine } from './acp-line.ts';

test('a program that has 100 requests open gets errors for further ones, and its other messages are read', async () => {
  const requests: Json[] = Array.from({ length: 150 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ask', params: {} }));
  const sent: JsonObject[] = [];
  let isNotified = () => {};
  const notified = new Promise<void>((resolve) => {
    isNotified = resolve;
  });
  async function* messages() {
    for (const request of requests) yield accept(request);
    yield accept<Json>({ jsonrpc: '2.0', method: 'note' });
  }
  const clock = new TestClock();
  new AcpLine({
    transport: {
      messages: messages(),
      send: (message) => void sent.push(message),
      lost: new Promise(() => {}),
      end: async () => {},
    },
    log: new LimitedLog({ log: new SilentLog(), clock, fields: {}, perSecond: 1 }),
    onRequest: () => new Promise(() => {}),
    onNotification: () => isNotified(),
    onOversized: async () => {},
  });
  await notified;
  expect(sent).toHaveLength(50);
  expect(sent[0]).toMatchObject({ id: 100, error: { message: 'At most 100 requests may be open at once.' } });
});

import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { OutboundExchange } from './exchange.ts';

test('an answer without a reader is not read from the socket until a reader starts', async () => {
  let isPaused = false;
  const socket = {
    get paused() {
      return isPaused;
    },
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
    },
    abort: () => {},
  } as unknown as Dispatcher.DispatchController;
  const exchange = new OutboundExchange({ onOver: () => {}, announcements: 16 });
  exchange.onRequestStart(socket);
  exchange.onResponseStart(socket, 200, {});
  exchange.onResponseData(socket, new Uint8Array(64 * 1024));
  expect(isPaused).toBe(false);
  exchange.onResponseData(socket, new Uint8Array(1));
  expect(isPaused).toBe(true);
  const body = exchange.body();
  expect((await body.next()).value).toHaveLength(64 * 1024);
  expect(isPaused).toBe(false);
  await body.return();
});

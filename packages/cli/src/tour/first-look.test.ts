import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstLook, type Shown } from './first-look.ts';
import { type Callbacks, stageOn } from './stage.ts';

// A server that accepts everything and never answers.
const silent = createServer(() => {});
beforeAll(async () => {
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

async function look(signal: AbortSignal): Promise<Shown[]> {
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  // The first show ends it, and needs none of the rest.
  const stage = stageOn({ url, key: 'k', admin_key: 'a' }, { callbacks: {} as Callbacks, data: '', signal });
  const shown: Shown[] = [];
  for await (const one of firstLook(stage)) shown.push(one);
  return shown;
}

test('a step that takes too long is reported, and nothing is tried after it', async () => {
  const shown = await look(AbortSignal.timeout(50));
  expect(shown).toMatchObject([{ name: 'agent', ok: false, text: 'it took too long' }]);
});

test('a stopped server prints nothing more', async () => {
  const stopping = new AbortController();
  silent.once('request', () => stopping.abort());
  expect(await look(stopping.signal)).toEqual([]);
});

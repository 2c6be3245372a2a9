import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { Dialler, type Dialling } from './dialler.ts';
import { asking, failureFrom, GateBench, textOf } from './gate.contract.ts';

let bench: GateBench;
beforeEach(() => {
  bench = new GateBench();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  vi.restoreAllMocks();
});

const dialOf = Dialler.prototype.dial;

test('a name that stands for thousands of addresses is tried at the first of each kind only', async () => {
  const dialled: string[] = [];
  vi.spyOn(Dialler.prototype, 'dial').mockImplementation(async ({ address }) => {
    dialled.push(address);
    throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  });
  const four = Array.from({ length: 3000 }, (_, at) => `127.1.${at >> 8}.${at & 255}`);
  const six = Array.from({ length: 3000 }, (_, at) => `fd00::${(at + 1).toString(16)}`);
  const gate = bench.gate({ allow: [{ host: 'a.example', port: 9000 }], resolve: async () => [...four, ...six] });
  expect(await failureFrom(gate.request(asking('http://a.example:9000/')))).toMatchObject({ code: 'unreachable' });
  expect(dialled).toEqual([...four.slice(0, 4), ...six.slice(0, 4)]);
});

test('all of its addresses are judged, also those that are not tried', async () => {
  const addresses = Array.from({ length: 1000 }, (_, at) => `93.184.${at >> 8}.${at & 255}`);
  const dial = vi.spyOn(Dialler.prototype, 'dial');
  const gate = bench.gate({ resolve: async () => [...addresses, '10.0.0.1'] });
  expect(await failureFrom(gate.request(asking('https://a.example/')))).toMatchObject({ code: 'unreachable' });
  expect(dial).not.toHaveBeenCalled();
});

test('an address that takes no connection leaves time for the next, and is sent nothing when it takes one later', async () => {
  let lookups = 0;
  let wakeUp: (() => Promise<void>) | undefined;
  const port = await bench.serve((_, response) => {
    lookups += 1;
    response.end('here');
  });
  vi.spyOn(Dialler.prototype, 'dial').mockImplementation(function (this: Dialler, dialling: Dialling) {
    if (dialling.address === '127.0.0.1') return dialOf.call(this, dialling);
    return new Promise((resolve) => {
      wakeUp = async () => resolve(await dialOf.call(this, { ...dialling, address: '127.0.0.1' }));
    });
  });
  const clock = new TestClock();
  const resolve = async () => ['127.9.9.9', '127.0.0.1'];
  const gate = bench.gate({ clock, allow: [{ host: 'a.example', port }], resolve });
  const answer = gate.request(asking(`http://a.example:${port}/`, { timeoutMs: 10_000 }));
  // The time of the whole exchange, and the patience with its first address.
  await expect.poll(() => wakeUp !== undefined && clock.waiting === 2).toBe(true);
  clock.pass(3000);
  expect(await textOf(await answer)).toBe('here');
  await wakeUp?.();
  // Data for it would have arrived by now, because another request has completed.
  expect(await textOf(await bench.open().request(asking(`http://127.0.0.1:${port}/`)))).toBe('here');
  expect(lookups).toBe(2);
});

import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import type { LogFields } from '../ports/ports.ts';
import { patiently } from './patiently.ts';
import { StoreError } from './store-error.ts';

const full = new StoreError('store_unavailable', 'The disk is full.');

function setting({ isRepeatable = false } = {}) {
  const clock = new TestClock();
  const stop = new AbortController();
  const warned: string[] = [];
  const keep = (_fields: LogFields, message: string) => void warned.push(message);
  const log = { debug() {}, info() {}, warn: keep, error() {} };
  const patience = { clock, log, signal: stop.signal, what: 'an answer', isRepeatable };
  return { clock, stop, warned, patience };
}

test('a refused write is tried again, later each time, and logged once', async () => {
  const { clock, warned, patience } = setting();
  const tries: number[] = [];
  const written = patiently(async () => {
    tries.push(clock.elapsed());
    if (tries.length < 9) throw full;
    return 'written';
  }, patience);
  for (const delay of [0, 100, 200, 400, 800, 1600, 3200, 5000, 5000]) await clock.advance(delay);
  expect(await written).toBe('written');
  expect(tries.map((at) => at - (tries[0] ?? 0))).toEqual([0, 100, 300, 700, 1500, 3100, 6300, 11_300, 16_300]);
  expect(warned).toEqual(['an answer could not be recorded yet']);
});

test('a stopped writer gets the refusal', async () => {
  const { stop, patience } = setting();
  const written = patiently(() => Promise.reject(full), patience);
  stop.abort();
  await expect(written).rejects.toBe(full);
});

test('another error is tried again only where a repeat does no harm', async () => {
  const fault = new Error('no such column');
  await expect(patiently(() => Promise.reject(fault), setting().patience)).rejects.toBe(fault);
  const { clock, patience } = setting({ isRepeatable: true });
  let tries = 0;
  const written = patiently(async () => {
    tries += 1;
    if (tries < 2) throw fault;
  }, patience);
  for (const delay of [0, 100]) await clock.advance(delay);
  await written;
  expect(tries).toBe(2);
});

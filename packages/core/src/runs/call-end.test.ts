import { expect, test } from 'vitest';
import { CallEnd } from './call-end.ts';

test('what comes before the end is handed on, a failure too', async () => {
  const ending = new CallEnd();
  expect(await ending.unlessEnded(Promise.resolve(1))).toBe(1);
  await expect(ending.unlessEnded(Promise.reject(new Error('own')))).rejects.toThrow('own');
});

test('a wait that would never be over ends with the reason', async () => {
  const ending = new CallEnd();
  const waiting = ending.unlessEnded(new Promise(() => {}));
  ending.end(new Error('time is up'));
  await expect(waiting).rejects.toThrow('time is up');
});

test('after the end nothing is waited for, and the first reason stays', async () => {
  const ending = new CallEnd();
  ending.end(new Error('first'));
  ending.end(new Error('second'));
  await expect(ending.unlessEnded(Promise.resolve(1).then(() => 2))).rejects.toThrow('first');
  expect(ending.signal.reason).toEqual(new Error('first'));
});

test('the signal is the same for everybody and aborts with the reason, asked for before or after', () => {
  const before = new CallEnd();
  const { signal } = before;
  expect(signal.aborted).toBe(false);
  before.end(new Error('over'));
  expect(before.signal).toBe(signal);
  expect(signal.reason).toEqual(new Error('over'));
});

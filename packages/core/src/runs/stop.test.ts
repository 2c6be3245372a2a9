import { expect, test } from 'vitest';
import { abortSignalOf, Stop } from './stop.ts';

test('a stop tells its listeners once, with the first reason', () => {
  const stop = new Stop();
  const heard: unknown[] = [];
  const gone = () => heard.push('gone');
  stop.addEventListener('abort', () => heard.push(stop.reason));
  stop.addEventListener('abort', gone);
  stop.removeEventListener('abort', gone);
  expect([stop.aborted, stop.reason]).toEqual([false, undefined]);
  stop.abort('first');
  stop.abort('second');
  stop.addEventListener('abort', gone);
  expect([stop.aborted, stop.reason, heard]).toEqual([true, 'first', ['first']]);
});

test('its signal is aborted with it, whether it was made before or after', () => {
  const [before, after] = [new Stop(), new Stop()];
  const { signal } = before;
  expect(before.signal).toBe(signal);
  for (const stop of [before, after]) stop.abort('over');
  expect([signal.aborted, signal.reason]).toEqual([true, 'over']);
  expect([after.signal.aborted, after.signal.reason]).toEqual([true, 'over']);
});

test('whoever needs a real signal gets one', () => {
  const { signal } = new AbortController();
  const stop = new Stop();
  expect(abortSignalOf(signal)).toBe(signal);
  expect(abortSignalOf(stop)).toBe(stop.signal);
});

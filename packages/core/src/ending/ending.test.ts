import { expect, test } from 'vitest';
import { abortSignalOf, Ending } from './ending.ts';

test('an ending notifies its listeners once, with the first reason', () => {
  const ending = new Ending();
  const events: unknown[] = [];
  const gone = () => events.push('gone');
  ending.addEventListener('abort', () => events.push(ending.reason));
  ending.addEventListener('abort', gone);
  ending.removeEventListener('abort', gone);
  expect([ending.aborted, ending.reason]).toEqual([false, undefined]);
  ending.end('first');
  ending.end('second');
  ending.addEventListener('abort', gone);
  expect([ending.aborted, ending.reason, events]).toEqual([true, 'first', ['first']]);
});

test('its signal is aborted with it, whether it was made before or after', () => {
  const [before, after] = [new Ending(), new Ending()];
  const { signal } = before;
  expect(before.signal).toBe(signal);
  for (const ending of [before, after]) ending.end('over');
  expect([signal.aborted, signal.reason]).toEqual([true, 'over']);
  expect([after.signal.aborted, after.signal.reason]).toEqual([true, 'over']);
});

test('a real signal is available', () => {
  const { signal } = new AbortController();
  const ending = new Ending();
  expect(abortSignalOf(signal)).toBe(signal);
  expect(abortSignalOf(ending)).toBe(ending.signal);
});

test('an ending follows a signal until that is called off', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const ending = new Ending();
  ending.follow(first.signal)();
  first.abort('first');
  expect(ending.aborted).toBe(false);
  ending.follow(second.signal);
  second.abort('second');
  expect(ending.reason).toBe('second');
  const late = new Ending();
  late.follow(second.signal);
  expect(late.reason).toBe('second');
});

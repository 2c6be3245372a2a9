import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Ending } from './ending.ts';
import { unlessAborted, untilAborted } from './until-aborted.ts';

test('passes everything on when nothing aborts', async () => {
  const items = untilAborted(from([1, 2, 3]), new AbortController().signal);
  const passed: number[] = [];
  for await (const item of items) passed.push(item);
  expect(passed).toEqual([1, 2, 3]);
});

test('a source that hangs is left with the reason', async () => {
  const controller = new AbortController();
  const items = untilAborted(hanging(), controller.signal);
  expect(await items.next()).toEqual({ done: false, value: 'first' });
  const next = items.next();
  controller.abort(new Error('time is up'));
  await expect(next).rejects.toThrow('time is up');
});

test('the source is closed when the reader leaves', async () => {
  let stopped = false;
  async function* source() {
    try {
      yield 1;
      yield 2;
    } finally {
      stopped = true;
    }
  }
  for await (const _ of untilAborted(source(), new AbortController().signal)) break;
  expect(stopped).toBe(true);
});

test('an aborted signal lets nothing through', async () => {
  const items = untilAborted(from([1]), AbortSignal.abort(new Error('before')));
  await expect(items.next()).rejects.toThrow('before');
});

describe('a promise', () => {
  test('gives its own value or error while nothing has ended', async () => {
    const ending = new Ending();
    expect(await unlessAborted(Promise.resolve(1), ending)).toBe(1);
    await expect(unlessAborted(Promise.reject(new Error('own')), ending)).rejects.toThrow('own');
  });

  test('that never settles is left with the first reason', async () => {
    const ending = new Ending();
    const waiting = unlessAborted(new Promise(() => {}), ending);
    ending.end(new Error('first'));
    ending.end(new Error('second'));
    await expect(waiting).rejects.toThrow('first');
    await expect(unlessAborted(Promise.reject(new Error('own')), ending)).rejects.toThrow('first');
  });

  test('leaves no listener behind when it settles', async () => {
    const { signal } = new AbortController();
    await unlessAborted(Promise.resolve(1), signal);
    await unlessAborted(Promise.reject(new Error('own')), signal).catch(() => {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

async function* from<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function* hanging(): AsyncGenerator<string> {
  yield 'first';
  await new Promise(() => {});
}

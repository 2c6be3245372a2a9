import { expect, test } from 'vitest';
import { untilAborted } from './until-aborted.ts';

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

test('the source is told to stop when the reader goes', async () => {
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

async function* from<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function* hanging(): AsyncGenerator<string> {
  yield 'first';
  await new Promise(() => {});
}

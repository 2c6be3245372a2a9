import { expect, test } from 'vitest';
import { mapAnswer } from './map-answer.ts';

const how = {
  item(item: number): string {
    if (item === 13) throw new Error('no such word');
    return `item ${item}`;
  },
  isLast: (item: string) => item === 'item 99',
  end: (returned: unknown) => `end ${returned}`,
  failed: (error: unknown) => `failed ${(error as Error).message}`,
};

test('every item is mapped, and then the end, once', async () => {
  expect(await mapped([1, 2])).toEqual(['item 1', 'item 2', 'end done']);
});

test('a source that fails, or yields an item that cannot be mapped, has a last item too', async () => {
  const failing = mapAnswer(async function* () {
    yield 1;
    throw new Error('boom');
  }, how);
  expect(await all(failing)).toEqual(['item 1', 'failed boom']);
  expect(await mapped([1, 13, 2])).toEqual(['item 1', 'failed no such word']);
  const absent = mapAnswer<number, string>(() => {
    throw new Error('not there');
  }, how);
  expect(await all(absent)).toEqual(['failed not there']);
});

test('after the last item the source is stopped, and its items are dropped', async () => {
  let stopped = false;
  async function* source() {
    try {
      yield 99;
      yield 100;
    } finally {
      stopped = true;
    }
  }
  expect(await all(mapAnswer(source, how))).toEqual(['item 99']);
  expect(stopped).toBe(true);
});

test('a reader that leaves stops a source that hangs while it cleans up, and does not wait for it', async () => {
  async function* source() {
    try {
      yield 1;
      yield 2;
    } finally {
      await new Promise(() => {});
    }
  }
  const received: string[] = [];
  for await (const word of mapAnswer(source, how)) {
    received.push(word);
    break;
  }
  expect(received).toEqual(['item 1']);
});

function mapped(items: readonly number[]): Promise<string[]> {
  return all(
    mapAnswer(async function* () {
      yield* items;
      return 'done';
    }, how),
  );
}

async function all(words: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const word of words) found.push(word);
  return found;
}

import { expect, test } from 'vitest';
import { retold } from './retelling.ts';

const how = {
  item(item: number): string {
    if (item === 13) throw new Error('no such word');
    return `item ${item}`;
  },
  isLast: (told: string) => told === 'item 99',
  end: (returned: unknown) => `end ${returned}`,
  failed: (error: unknown) => `failed ${(error as Error).message}`,
};

test('every item is told, and then the end, once', async () => {
  expect(await told([1, 2])).toEqual(['item 1', 'item 2', 'end done']);
});

test('a source that fails, or says what cannot be told, has a last word too', async () => {
  const failing = retold(async function* () {
    yield 1;
    throw new Error('boom');
  }, how);
  expect(await all(failing)).toEqual(['item 1', 'failed boom']);
  expect(await told([1, 13, 2])).toEqual(['item 1', 'failed no such word']);
  const absent = retold<number, string>(() => {
    throw new Error('not there');
  }, how);
  expect(await all(absent)).toEqual(['failed not there']);
});

test('after the last one the source is told to stop, and not heard', async () => {
  let stopped = false;
  async function* source() {
    try {
      yield 99;
      yield 100;
    } finally {
      stopped = true;
    }
  }
  expect(await all(retold(source, how))).toEqual(['item 99']);
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
  const heard: string[] = [];
  for await (const word of retold(source, how)) {
    heard.push(word);
    break;
  }
  expect(heard).toEqual(['item 1']);
});

function told(items: readonly number[]): Promise<string[]> {
  return all(
    retold(async function* () {
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

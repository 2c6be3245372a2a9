import { expect, test } from 'vitest';
import type { FrameRow, RequestKey, RequestStore } from '../store/store.ts';
import { JournalPages } from './journal-pages.ts';

test('only a few pages are read at once, and the owners of the answers take turns', async () => {
  const keys: RequestKey[] = [];
  const answers: ((rows: FrameRow[]) => void)[] = [];
  const frames: RequestStore['frames'] = (key) => {
    keys.push(key);
    return new Promise((resolve) => answers.push(resolve));
  };
  const pages = new JournalPages({ frames } as RequestStore);
  const read = (owner: string) => pages.read({ owner, requestId: 'r' }, { after: -1 });
  const reads = [...Array(8).fill('many'), 'one', 'two'].map(read);
  expect(keys).toHaveLength(4);
  for (let done = 0; done < reads.length; done += 1) {
    answers[done]?.([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(keys.length).toBe(Math.min(reads.length, done + 5));
  }
  await Promise.all(reads);
  expect(keys.slice(4).map(({ owner }) => owner)).toEqual(['many', 'one', 'two', 'many', 'many', 'many']);
});

test('a page for a reader that has left is not read', async () => {
  const answers: ((rows: FrameRow[]) => void)[] = [];
  const frames: RequestStore['frames'] = () => new Promise((resolve) => answers.push(resolve));
  const pages = new JournalPages({ frames } as RequestStore);
  const left = new AbortController();
  const read = (signal?: AbortSignal) => pages.read({ owner: 'ada', requestId: 'r' }, { after: -1, signal });
  const reads = [...Array.from({ length: 4 }, () => read()), ...Array.from({ length: 100 }, () => read(left.signal))];
  reads.push(read());
  left.abort();
  for (const answer of answers) answer([]);
  await Promise.all(reads.slice(0, -1));
  expect(answers).toHaveLength(5);
  answers[4]?.([]);
  await reads.at(-1);
});

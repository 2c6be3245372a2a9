import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { JournalPages } from '../runs/journal-pages.ts';
import type { NodeWord, OpenRequest } from '../store/cluster.ts';
import type { FrameRow, RequestStore } from '../store/store.ts';
import { FollowedAnswers } from './followed-answers.ts';
import { Watchers } from './watchers.ts';
import { Words } from './words.ts';

const KEY = { owner: 'ann', requestId: 'r1' };

/** One request that node 2 answers and node 1 reads. */
function setUp({ hasWords = true } = {}) {
  const frames: FrameRow[] = [];
  let open: OpenRequest | undefined = { request: 7, holder: 2, next: 0 };
  let reads = 0;
  const hearers = new Map<number, Words>();
  const wordsOf = (node: number) => {
    const store = {
      onWord: undefined as ((text: string) => void) | undefined,
      send: async (words: readonly NodeWord[]) => {
        if (hasWords) for (const { node: to, text } of words) stores.get(to)?.onWord?.(text);
      },
    };
    stores.set(node, store);
    const words = new Words({ store, log: new SilentLog() });
    hearers.set(node, words);
    return words;
  };
  const stores = new Map<number, { onWord: ((text: string) => void) | undefined }>();
  const journal = {
    frames: async (_: unknown, { after }: { after: number }) => {
      reads += 1;
      return frames.filter(({ sequence }) => sequence > after);
    },
  } as unknown as RequestStore;
  const followed = new FollowedAnswers({
    store: { node: 1, openRequest: async () => open, openRequests: async () => (open === undefined ? [] : [open]) },
    words: wordsOf(1),
    pages: new JournalPages(journal),
  });
  const watchers = new Watchers({ words: wordsOf(2), durableHere: () => open?.next });
  const record = (isFinal = false) => {
    frames.push({ sequence: frames.length, isFinal, text: `frame ${frames.length}` });
    open = isFinal ? undefined : { request: 7, holder: open?.holder ?? 2, next: frames.length };
    watchers.landed(7, frames.length, isFinal);
  };
  return {
    followed,
    record,
    moveTo: (holder: number) => {
      if (open !== undefined) open = { ...open, holder };
    },
    get reads() {
      return reads;
    },
  };
}

const texts = (rows: readonly FrameRow[]) => rows.map(({ text }) => text);
const soon = () => new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));

test('a reader is given frames as their node records them, without a beat', async () => {
  const { followed, record } = setUp();
  const source = followed.follow(KEY);
  const first = source.after(-1);
  await soon();
  record();
  expect(texts(await first)).toEqual(['frame 0']);
  const second = source.after(0);
  await soon();
  record(true);
  expect(texts(await second)).toEqual(['frame 1']);
});

test('a word costs one read', async () => {
  const one = setUp();
  const source = one.followed.follow(KEY);
  for (let sequence = -1; sequence < 10; sequence += 1) {
    const reading = source.after(sequence);
    await soon();
    one.record();
    expect(await reading).toHaveLength(1);
  }
  // One more found nothing, before the reader knew of the other node.
  expect(one.reads).toBe(12);
});

test('without words it is given them with the next beat', async () => {
  const { followed, record } = setUp({ hasWords: false });
  const reading = followed.follow(KEY).after(-1);
  await soon();
  record();
  let isRead = false;
  void reading.then(() => {
    isRead = true;
  });
  await soon();
  expect(isRead).toBe(false);
  await followed.look();
  expect(texts(await reading)).toEqual(['frame 0']);
});

test('a request that has ended is read to its end, and an unknown one has no frames', async () => {
  const { followed, record } = setUp();
  record();
  record(true);
  const source = followed.follow(KEY);
  expect(texts(await source.after(-1))).toEqual(['frame 0', 'frame 1']);
  expect(await source.after(1)).toEqual([]);
});

test('a reader that waits costs no reads, and one that leaves is let go', async () => {
  const one = setUp();
  const leaving = new AbortController();
  const reading = one.followed.follow(KEY, leaving.signal).after(-1);
  await soon();
  const before = one.reads;
  for (let beats = 0; beats < 5; beats += 1) await one.followed.look();
  expect(one.reads).toBe(before);
  leaving.abort();
  expect(await reading).toEqual([]);
});

test('a reader follows the request to the node that takes it over', async () => {
  const { followed, record, moveTo } = setUp();
  const reading = followed.follow(KEY).after(-1);
  await soon();
  moveTo(3);
  await followed.look();
  record(true);
  await followed.look();
  expect(texts(await reading)).toEqual(['frame 0']);
});

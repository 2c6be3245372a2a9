import type { Json } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { NodeCalls } from './node-calls.ts';
import { Words } from './words.ts';

interface Row {
  readonly id: number;
  readonly caller: number;
  readonly callee: number;
  readonly text: string;
  isTaken: boolean;
  answer?: string;
}

/** Two nodes on one table of calls. */
function setUp({ hasWords = true } = {}) {
  const clock = new TestClock();
  const log = new SilentLog();
  let rows: Row[] = [];
  const stores: { onWord: ((text: string) => void) | undefined }[] = [];
  const node = (number: number) => {
    const store = {
      node: number,
      others: async () => [],
      onWord: undefined as ((text: string) => void) | undefined,
      send: async (words: readonly { node: number; text: string }[]) => {
        if (hasWords) for (const word of words) stores[word.node]?.onWord?.(word.text);
      },
      addCall: async (callee: number, text: string) => {
        const id = rows.length + 1;
        rows.push({ id, caller: number, callee, text, isTaken: false });
        return id;
      },
      takeCalls: async () => {
        const taken = rows.filter(({ callee, isTaken }) => callee === number && !isTaken);
        for (const row of taken) row.isTaken = true;
        return taken;
      },
      answerCall: async (id: number, text: string) => {
        const row = rows.find((one) => one.id === id);
        if (row !== undefined) row.answer = text;
      },
      takeAnswers: async (ids: readonly number[]) => {
        const done = rows.filter(({ id, answer }) => ids.includes(id) && answer !== undefined);
        rows = rows.filter((row) => !done.includes(row));
        return done.map(({ id, answer = '' }) => ({ id, text: answer }));
      },
    };
    stores[number] = store;
    return new NodeCalls({ store, words: new Words({ store, log }), clock, log });
  };
  return { clock, one: node(1), two: node(2) };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

test('a node answers what another asks', async () => {
  const { one, two } = setUp();
  two.serve('double', async (params) => Number(params) * 2);
  expect(await one.ask(2, 'double', 21)).toBe(42);
});

test('a call is answered with the next beat when words are lost, once', async () => {
  const { one, two } = setUp({ hasWords: false });
  const seen: Json[] = [];
  two.serve('note', async (params) => seen.push(params));
  const answered = one.ask(2, 'note', 'hello');
  await soon();
  await Promise.all([two.look(), two.look()]);
  await soon();
  await one.look();
  expect(await answered).toBe(1);
  expect(seen).toEqual(['hello']);
});

test('a call of a node that is gone times out', async () => {
  const { clock, one } = setUp();
  const answered = one.ask(3, 'double', 1);
  await soon();
  await clock.advance(5000);
  expect(await answered).toBeUndefined();
});

test('a failed or unknown call is answered with null', async () => {
  const { one, two } = setUp();
  two.serve('fail', () => Promise.reject(new Error('not today')));
  expect(await one.ask(2, 'fail', null)).toBeNull();
  expect(await one.ask(2, 'unknown', null)).toBeNull();
});

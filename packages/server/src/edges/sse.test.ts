import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { ndjsonRecord, ndjsonStream } from './ndjson-stream.ts';
import { type StreamRecord, sseAnswer, sseRecord } from './sse.ts';

async function* from<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function collect(stream: AsyncIterable<string> | undefined): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += chunk;
  return text;
}

/** The parser of WHATWG HTML §9.2.6, as far as `id` and `data` go. */
function parseSse(text: string): { id: string; data: string }[] {
  const events: { id: string; data: string }[] = [];
  let id = '';
  let data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (data.length > 0) events.push({ id, data: data.join('\n') });
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'id') id = value;
  }
  return events;
}

const records = (payloads: readonly unknown[]): StreamRecord[] =>
  payloads.map((payload, id) => ({ id, data: JSON.stringify(payload) }));

describe('SSE', () => {
  test('whatever is in the payloads, a conforming parser sees exactly the records sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), async (payloads) => {
        const sent = records(payloads);
        const answer = sseAnswer(from(sent), { clock: new TestClock() });
        const received = parseSse(await collect(answer.stream));
        expect(received).toEqual(sent.map(({ id, data }) => ({ id: String(id), data })));
      }),
    );
  });

  test.each(['\n', '\r', '\r\n', 'a\nevent: forged\n\n'])(
    'data of more than one line is a mistake of ours: %j',
    (data) => {
      expect(() => sseRecord({ id: 1, data })).toThrow();
    },
  );

  test.each([Number.NaN, 1.5, Number.POSITIVE_INFINITY])('an id that is not a whole number is refused: %d', (id) => {
    expect(() => sseRecord({ id, data: '{}' })).toThrow();
  });
});

test('NDJSON is one line a record, and an empty line where it is silent', async () => {
  const clock = new TestClock();
  const lines = records([{ a: 1 }, 'b\n']).map(({ data }) => ndjsonRecord(data));
  expect(await collect(ndjsonStream(from(lines), { clock, everyMs: 1000 }).stream)).toBe('{"a":1}\n"b\\n"\n');
  expect(() => ndjsonRecord('{}\n{}')).toThrow();
  const answer = ndjsonStream(
    (async function* () {
      await clock.wait(1500);
      yield ndjsonRecord('{}');
    })(),
    { clock, everyMs: 1000 },
  );
  const iterator = answer.stream?.[Symbol.asyncIterator]();
  const beat = iterator?.next();
  await clock.advance(1000);
  expect(await beat).toEqual({ done: false, value: '\n' });
  const record = iterator?.next();
  await clock.advance(500);
  expect(await record).toEqual({ done: false, value: '{}\n' });
});

describe('heartbeats', () => {
  /** A source that yields records on command. */
  class Tap implements AsyncIterableIterator<StreamRecord> {
    pulls = 0;
    released = false;
    give: (id: number) => void = () => {};
    fail: (error: Error) => void = () => {};

    next(): Promise<IteratorResult<StreamRecord>> {
      this.pulls++;
      return new Promise((resolve, reject) => {
        this.give = (id) => resolve({ done: false, value: { id, data: '{}' } });
        this.fail = reject;
      });
    }

    async return(): Promise<IteratorResult<StreamRecord>> {
      this.released = true;
      return { done: true, value: undefined };
    }

    [Symbol.asyncIterator](): this {
      return this;
    }
  }

  function open() {
    const clock = new TestClock();
    const tap = new Tap();
    const iterator = sseAnswer(tap, { clock, heartbeatMs: 1000 }).stream?.[Symbol.asyncIterator]();
    if (iterator === undefined) throw new Error('no stream');
    return { clock, tap, iterator };
  }

  test('are sent when nothing else has been for a while, and a record after one is not lost', async () => {
    const { clock, tap, iterator } = open();
    const first = iterator.next();
    await clock.advance(999);
    await clock.advance(1);
    expect((await first).value).toMatch(/^: .*\n\n$/);
    tap.give(0);
    await clock.advance(0);
    expect((await iterator.next()).value).toBe('id: 0\ndata: {}\n\n');
    const third = iterator.next();
    await clock.advance(1000);
    expect((await third).value).toMatch(/^:/);
    expect(tap.pulls).toBe(2);
  });

  test('start again with every record', async () => {
    const { clock, tap, iterator } = open();
    for (let id = 0; id < 3; id++) {
      const next = iterator.next();
      await clock.advance(900);
      tap.give(id);
      expect((await next).value).toBe(`id: ${id}\ndata: {}\n\n`);
    }
  });

  test('are not created without a reader', async () => {
    const { clock, tap, iterator } = open();
    const first = iterator.next();
    await clock.advance(0);
    tap.give(0);
    await first;
    await clock.advance(10_000);
    expect(tap.pulls).toBe(1);
    expect(clock.waiting).toBe(0);
  });

  test('end with the stream, whether it ends, breaks or is let go', async () => {
    const letGo = open();
    const pending = letGo.iterator.next();
    void letGo.iterator.return?.();
    expect((await pending).done).toBe(true);
    expect(letGo.clock.waiting).toBe(0);

    const broken = open();
    const failing = broken.iterator.next();
    await broken.clock.advance(0);
    broken.tap.fail(new Error('gone'));
    await expect(failing).rejects.toThrow('gone');
    expect(broken.clock.waiting).toBe(0);

    const clock = new TestClock();
    expect(await collect(sseAnswer(from(records([1])), { clock }).stream)).toBe('id: 0\ndata: 1\n\n');
    expect(clock.waiting).toBe(0);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeUtf8 } from '../platform.ts';
import { countCopiedBytes, expectSameAtAnyCut, expectSameAtEveryCut } from './cuts.contract.ts';
import { type SseMessage, SseParser } from './sse-parser.ts';

describe('the examples of the standard', () => {
  test('three messages of one, two and one line', () => {
    expect(
      data(
        'data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\ndata: This is the third message.\n\n',
      ),
    ).toEqual([
      'This is the first message.',
      'This is the second message, it\nhas two lines.',
      'This is the third message.',
    ]);
  });

  test('events by name', () => {
    expect(read('event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n')).toEqual([
      { event: 'add', data: '73857293', lastEventId: '' },
      { event: 'remove', data: '2153', lastEventId: '' },
    ]);
  });

  test('numbers on three lines', () => {
    expect(data('data: YHOO\ndata: +2\ndata: 10\n\n')).toEqual(['YHOO\n+2\n10']);
  });

  test('a comment, an id, an id taken back, and an event the end of the stream cuts off', () => {
    const stream = ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event';
    expect(read(stream)).toEqual([
      { event: 'message', data: 'first event', lastEventId: '1' },
      { event: 'message', data: 'second event', lastEventId: '' },
    ]);
    expect(data(`${stream}\n\n`).at(-1)).toBe(' third event');
  });

  test('data that is empty, data of one line break, and data that never ends', () => {
    expect(data('data\n\ndata\ndata\n\ndata:')).toEqual(['', '\n']);
  });

  test('a space after the colon is not part of the value', () => {
    expect(data('data:test\n\ndata: test\n\n')).toEqual(['test', 'test']);
  });
});

describe('lines', () => {
  test('end with LF, CR or CRLF, mixed', () => {
    expect(data('data: a\r\rdata: b\n\ndata: c\r\n\r\ndata: d\r\n\ndata: e\r\n\r')).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('that end with CR are read at once, without waiting for an LF', () => {
    expect(new SseParser().push(encodeUtf8('data: a\r\r'))).toHaveLength(1);
  });

  test('are not broken at U+2028, U+0085 or a form feed', () => {
    expect(data('data: a\u2028b\u0085c\fd\n\n')).toEqual(['a\u2028b\u0085c\fd']);
  });

  test('that are comments are passed over, even when they are not UTF-8', () => {
    expect(data(Uint8Array.of(0x3a, 0xff, 0x0a, ...encodeUtf8('data: a\n:b\ndata: c\n\n')))).toEqual(['a\nc']);
  });

  test('of unknown fields, and fields in other case or with spaces, are passed over', () => {
    expect(data('Data: a\n data: b\ndata : c\nfoo: d\nfoo\ndata: e\n\n')).toEqual(['e']);
  });

  test('have one byte order mark dropped at the start of the stream and nowhere else', () => {
    expect(data('\uFEFFdata: a\n\n\uFEFFdata: b\n\n')).toEqual(['a']);
    expect(data('\uFEFF\uFEFFdata: a\n\n')).toEqual([]);
    expect(data('\uFEFF: comment\n\uFEFF\ndata: b\uFEFF\n\n')).toEqual(['b\uFEFF']);
    expect(data('\uFEFF\ndata: a\n\n')).toEqual(['a']);
  });
});

describe('id', () => {
  test('stays until another one arrives', () => {
    expect(read('id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n')).toMatchObject([
      { data: 'a', lastEventId: '1' },
      { data: 'b', lastEventId: '1' },
      { data: 'c', lastEventId: '2' },
    ]);
  });

  test('with a NUL in it is ignored', () => {
    expect(read('id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n').at(-1)).toMatchObject({ data: 'b', lastEventId: '1' });
  });

  test('counts although its event has no data and is not reported', () => {
    const parser = new SseParser();
    expect(parser.push(encodeUtf8('id: 5\nevent: silent\n\n'))).toEqual([]);
    expect(parser.lastEventId).toBe('5');
    expect(parser.push(encodeUtf8('data: a\n\n'))).toMatchObject([{ value: { event: 'message', lastEventId: '5' } }]);
  });

  test('of an incomplete event is not one to resume from', () => {
    const parser = new SseParser();
    parser.push(encodeUtf8('id: 1\ndata: a\n\nid: 2\ndata: b\n'));
    expect(parser.lastEventId).toBe('1');
  });
});

describe('retry', () => {
  test.each([
    ['retry: 3000', 3000],
    ['retry:0', 0],
    ['retry', undefined],
    ['retry: -1', undefined],
    ['retry: 1.5', undefined],
    ['retry: 1e3', undefined],
    ['retry: ١', undefined],
    ['retry:  7', undefined],
    ['retry: 99999999999999999999', undefined],
  ])('%s', (line, expected) => {
    const parser = new SseParser();
    parser.push(encodeUtf8(`${line}\n\n`));
    expect(parser.retry).toBe(expected);
  });
});

describe('an event that fails', () => {
  const limits = { maxEventBytes: 20 };

  test('by its size is one fault, and the next event is read as usual', () => {
    expect(data('data: 123456789012345\n\ndata: ok\n\n', limits)).toEqual(['event_too_large', 'ok']);
    expect(data('data: 1234\ndata: 5678\ndata: 9\n\ndata: ok\n\n', limits)).toEqual(['event_too_large', 'ok']);
  });

  test('by its size is reported when it passes the limit, and once', () => {
    const parser = new SseParser(limits);
    expect(parser.push(encodeUtf8('data: 12345678901234'))).toEqual([]);
    expect(parser.push(encodeUtf8('5'))).toMatchObject([{ issues: [{ code: 'event_too_large' }] }]);
    expect(parser.push(encodeUtf8('6789\ndata: more\nmore'))).toEqual([]);
    expect(parser.bytesHeld).toBe(0);
  });

  test('is not one of exactly the limit', () => {
    expect(data('data: 12345678901234\n\n', limits)).toEqual(['12345678901234']);
  });

  test('by bytes that are not UTF-8 is one fault, never replacement characters', () => {
    const stream = [...encodeUtf8('data: a'), 0xff, ...encodeUtf8('\ndata: b\n\ndata: ok\n\n')];
    expect(data(Uint8Array.from(stream))).toEqual(['not_utf8', 'ok']);
  });

  test('leaves neither its name nor its id nor its data behind', () => {
    expect(read('id: 1\ndata: a\n\nid: 2\nevent: x\ndata: 123456789\n\ndata: ok\n\n', limits)).toEqual([
      { event: 'message', data: 'a', lastEventId: '1' },
      'event_too_large',
      { event: 'message', data: 'ok', lastEventId: '1' },
    ]);
  });

  test('is never made of comments: a stream may beat for days between two events', () => {
    expect(data(`${':beat\n'.repeat(100)}data: ok\n\n`, limits)).toEqual(['ok']);
  });

  test('names the limit and the fix', () => {
    const [fault] = new SseParser(limits).push(encodeUtf8('x'.repeat(21)));
    expect(fault).toMatchObject({
      issues: [
        {
          pointer: '',
          code: 'event_too_large',
          message: 'expected at most 20 bytes in an event; received more without a blank line',
          suggestion: 'send smaller events, and end each with a blank line',
        },
      ],
    });
  });
});

describe('wherever the stream is cut', () => {
  test('the events and faults are the same, at every place of a stream that has everything', () => {
    const stream = Uint8Array.of(
      ...encodeUtf8(
        '\uFEFFid: ä\r\ndata: €😀\r\n\r\n: comment\revent: x\rdata\r\rdata: 12345678901234567890\r\ndata: x\r\n\r\n',
      ),
      ...encodeUtf8('retry: 5\n\nid: 3\n\ndata: \u2028\n'),
      0xe2,
      0x82,
      ...encodeUtf8('\n\ndata: last\ndata: one\n\r\ndata: half\n'),
    );
    const expected = [
      { event: 'message', data: '€😀', lastEventId: 'ä' },
      { event: 'x', data: '', lastEventId: 'ä' },
      'event_too_large',
      'not_utf8',
      { event: 'message', data: 'last\none', lastEventId: '3' },
    ];
    expectSameAtEveryCut(stream, (chunks) => readChunks(chunks, { maxEventBytes: 24 }), expected);
  });

  test('the events and faults are the same, for any stream', () => {
    const part = fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'data',
      ':',
      ' ',
      'id',
      'event',
      'retry',
      '\uFEFF',
      '€',
      '12',
      '\0',
    );
    const text = fc.array(part, { maxLength: 30 }).map((parts) => encodeUtf8(parts.join('')));
    const bytes = fc.uint8Array({ maxLength: 8 });
    const streams = fc
      .array(fc.oneof(text, bytes), { maxLength: 4 })
      .map((all) => Uint8Array.from(all.flatMap((one) => [...one])));
    expectSameAtAnyCut(streams, (chunks) => readChunks(chunks, { maxEventBytes: 16 }));
  });
});

describe('cost', () => {
  const MiB = 1024 * 1024;

  test('an event of 4 MiB in chunks of 1 KiB is moved fewer than three times', () => {
    const parser = new SseParser();
    const chunk = new Uint8Array(1024).fill(0x61);
    const copied = countCopiedBytes(() => {
      parser.push(encodeUtf8('data:'));
      for (let sent = 0; sent < 4 * MiB; sent += chunk.length) parser.push(chunk);
    });
    expect(copied).toBeLessThan(12 * MiB);
    expect(parser.push(encodeUtf8('\n\n'))).toMatchObject([{ ok: true }]);
  });

  test('memory stays within the limit while a line has no end', () => {
    const parser = new SseParser({ maxEventBytes: MiB });
    const chunk = new Uint8Array(64 * 1024).fill(0x61);
    let most = 0;
    let faults = 0;
    for (let sent = 0; sent < 32 * MiB; sent += chunk.length) {
      faults += parser.push(chunk).length;
      most = Math.max(most, parser.bytesHeld);
    }
    expect(faults).toBe(1);
    expect(most).toBeLessThanOrEqual(MiB);
  });
});

function read(stream: string | Uint8Array, limits = {}): (SseMessage | string)[] {
  return readChunks([typeof stream === 'string' ? encodeUtf8(stream) : stream], limits);
}

function data(stream: string | Uint8Array, limits = {}): string[] {
  return read(stream, limits).map((message) => (typeof message === 'string' ? message : message.data));
}

/** The events, and the code of each fault in its place. Each chunk is overwritten after it was read. */
function readChunks(chunks: readonly Uint8Array[], limits = {}): (SseMessage | string)[] {
  const parser = new SseParser(limits);
  return chunks.flatMap((chunk) => {
    const copy = chunk.slice();
    const outcomes = parser.push(copy);
    copy.fill(0x21);
    return outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.issues.map((issue) => issue.code).join()));
  });
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../outcome.ts';
import { decodeUtf8, encodeUtf8 } from '../platform.ts';
import { anyCharacter } from './any-character.contract.ts';
import { countCopiedBytes, expectSameAtAnyCut, expectSameAtEveryCut } from './cuts.contract.ts';
import { LineSplitter } from './line-splitter.ts';

describe('lines', () => {
  test('end with LF or with CRLF', () => {
    expect(readAll('one\ntwo\r\nthree\n')).toEqual(['one', 'two', 'three']);
  });

  test('that are blank are passed over, and counted', () => {
    expect(readAll('\n\r\n \t\none\n\n\n  \r\n\ntwo\n\r\n')).toEqual(['one', 'two']);
    const splitter = new LineSplitter();
    for (const part of ['\n\r\none\n ', ' \ntwo', '\n\n']) splitter.push(encodeUtf8(part));
    expect(splitter.blankLines).toBe(4);
  });

  test('keep every other byte: spaces, a CR inside, NUL and bytes that are not UTF-8', () => {
    const bytes = Uint8Array.of(0x20, 0x0d, 0x41, 0x00, 0xff, 0x0d, 0x0d, 0x0a);
    const [line] = new LineSplitter().push(bytes);
    expect(line).toMatchObject({ ok: true, value: bytes.subarray(0, 6) });
  });

  test('are not broken at U+2028, U+2029, U+0085, a form feed or a lone CR', () => {
    const text = 'a\u2028b\u2029c\u0085d\fe\vf\rg';
    expect(readAll(`${text}\n`)).toEqual([text]);
  });

  test('that lie within one chunk are views of it, not copies', () => {
    const chunk = encodeUtf8('one\ntwo\nthree\n');
    const copied = countCopiedBytes(() => {
      for (const line of new LineSplitter().push(chunk)) {
        expect(line.ok && line.value.buffer === chunk.buffer).toBe(true);
      }
    });
    expect(copied).toBe(0);
  });

  test('that began in an earlier chunk do not change when that chunk is used again', () => {
    const splitter = new LineSplitter();
    const chunk = encodeUtf8('started, ');
    splitter.push(chunk);
    chunk.fill(0);
    expect(splitter.push(encodeUtf8('and done\n')).map(shown)).toEqual(['started, and done']);
  });
});

describe('a line past the limit', () => {
  const limits = { maxLineBytes: 5 };

  test('is one fault, and the next line is read as usual', () => {
    expect(readAll('123456\nok\n', limits)).toEqual(['line_too_long', 'ok']);
  });

  test('is one fault however far past the limit it goes', () => {
    const splitter = new LineSplitter(limits);
    const faults = Array.from({ length: 100 }, () => splitter.push(encodeUtf8('1234567890')).map(shown));
    expect(faults.flat()).toEqual(['line_too_long']);
    expect(splitter.push(encodeUtf8('end\nok\n')).map(shown)).toEqual(['ok']);
  });

  test('is reported when it passes the limit, not when it ends', () => {
    const splitter = new LineSplitter(limits);
    expect(splitter.push(encodeUtf8('12345')).map(shown)).toEqual([]);
    expect(splitter.push(encodeUtf8('6')).map(shown)).toEqual(['line_too_long']);
  });

  test('is not a line of exactly the limit, with LF or with CRLF', () => {
    expect(readAll('12345\n12345\r\n', limits)).toEqual(['12345', '12345']);
  });

  test('may be one byte past it by a CR that no LF follows', () => {
    expect(readAll('12345\rx\nok\n', limits)).toEqual(['line_too_long', 'ok']);
    expect(readAll('12345\r\r\nok\n', limits)).toEqual(['line_too_long', 'ok']);
  });

  test('is reported once when the stream ends within it', () => {
    expect(readAll('1234567', limits)).toEqual(['line_too_long']);
  });

  test('can be recognized by its start, wherever the stream was cut', () => {
    const text = `"${'x'.repeat(2000)}`;
    for (const cut of [1, 3, 6, 1500]) {
      const splitter = new LineSplitter(limits);
      const bytes = encodeUtf8(text);
      const faults = [...splitter.push(bytes.subarray(0, cut)), ...splitter.push(bytes.subarray(cut))];
      expect(faults).toHaveLength(1);
      const start = decodeUtf8(splitter.longLineStart);
      expect(text.slice(0, 1024).startsWith(start ?? '?')).toBe(true);
      expect(start?.length).toBeGreaterThanOrEqual(6);
    }
  });

  test('gives the end of a line that was too long, once it arrives, wherever it was cut', () => {
    for (const text of ['12345678}', `${'x'.repeat(2000)}}`]) {
      for (let cut = 0; cut <= text.length; cut += 1) {
        const splitter = new LineSplitter(limits);
        const bytes = encodeUtf8(`${text}\n`);
        splitter.push(bytes.subarray(0, cut));
        splitter.push(bytes.subarray(cut, text.length));
        expect(splitter.isSkipping).toBe(true);
        splitter.push(bytes.subarray(text.length));
        expect(splitter.isSkipping).toBe(false);
        expect(decodeUtf8(splitter.longLineEnd)).toBe(text.slice(-256));
      }
    }
    const whole = new LineSplitter(limits);
    whole.push(encodeUtf8('12345678}\n1\n'));
    expect([whole.isSkipping, decodeUtf8(whole.longLineEnd)]).toEqual([false, '12345678}']);
  });

  test('names the limit and the fix', () => {
    const [fault] = new LineSplitter(limits).push(encodeUtf8('1234567'));
    expect(fault).toEqual({
      ok: false,
      issues: [
        {
          pointer: '',
          code: 'line_too_long',
          message: 'expected at most 5 bytes in a line; received more without a line break',
          suggestion: 'send a shorter message, and end each with one line break',
        },
      ],
    });
  });
});

describe('the end of the stream', () => {
  test('after a line break brings nothing', () => {
    expect(readAll('one\n')).toEqual(['one']);
  });

  test('within a line is a fault, even when the line looks whole', () => {
    expect(readAll('{"a":1}\n{"run":"rm -rf"}')).toEqual(['{"a":1}', 'partial_line']);
  });

  test('within a blank line brings nothing: no message is lost', () => {
    expect(readAll('one\n \t\r')).toEqual(['one']);
  });

  test('reports how much of the line had arrived', () => {
    const splitter = new LineSplitter();
    splitter.push(encodeUtf8('half a l'));
    expect(splitter.end()).toMatchObject([
      { issues: [{ message: 'expected a line break after the last line; the stream ended after 8 bytes of it' }] },
    ]);
    expect(splitter.bytesHeld).toBe(0);
  });
});

describe('wherever the stream is cut', () => {
  test('the lines and faults are the same, at every place of a stream that has everything', () => {
    const stream = encodeUtf8(
      'äé€😀\r\n\r\n \n1234567890123\r\n12345678901234567\n123456789012\r\n\n😀😀😀\n😀😀😀x\nhalf',
    );
    const expected = [
      'äé€😀',
      'line_too_long',
      'line_too_long',
      '123456789012',
      '😀😀😀',
      'line_too_long',
      'partial_line',
    ];
    expectSameAtEveryCut(stream, (chunks) => readChunks(chunks, { maxLineBytes: 12 }), expected);
  });

  test('the lines and faults are the same, for any bytes', () => {
    const byte = fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x20, 0x61), fc.nat({ max: 255 }));
    const streams = fc.array(byte, { maxLength: 60 }).map((bytes) => Uint8Array.from(bytes));
    expectSameAtAnyCut(streams, (chunks) => readChunks(chunks, { maxLineBytes: 4 }));
  });

  test('every line of any text is returned unchanged', () => {
    const line = fc.string({ unit: anyCharacter }).filter((text) => !/[\r\n]/.test(text) && text.trim() !== '');
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        expect(readAll(lines.map((text) => text + end).join(''))).toEqual(lines);
      }),
    );
  });
});

describe('cost', () => {
  const MiB = 1024 * 1024;

  test.each([
    ['1 MiB in single bytes', MiB, 1],
    ['8 MiB in chunks of 1 KiB', 8 * MiB, 1024],
    ['8 MiB in chunks of 64 KiB', 8 * MiB, 64 * 1024],
  ])('a line of %s is moved fewer than three times', (_, size, step) => {
    const splitter = new LineSplitter();
    const chunk = new Uint8Array(step).fill(0x61);
    let lines: readonly Outcome<Uint8Array>[] = [];
    const copied = countCopiedBytes(() => {
      for (let sent = 0; sent < size; sent += step) splitter.push(chunk);
      lines = splitter.push(Uint8Array.of(0x0a));
    });
    expect(lines.map((line) => line.ok && line.value.length)).toEqual([size]);
    expect(copied).toBeLessThan(3 * size);
  });

  test('memory stays within the limit while 200 MiB come without a line break, and is given back', () => {
    const splitter = new LineSplitter();
    const chunk = new Uint8Array(64 * 1024).fill(0x61);
    let most = 0;
    let faults = 0;
    for (let sent = 0; sent < 200 * MiB; sent += chunk.length) {
      faults += splitter.push(chunk).length;
      most = Math.max(most, splitter.bytesHeld);
    }
    expect(faults).toBe(1);
    expect(most).toBeLessThanOrEqual(8 * MiB + 1);
    expect(splitter.bytesHeld).toBe(0);
    expect(splitter.bytesSinceNewline).toBe(200 * MiB);
  });

  test('bytes since the last line break are counted, skipped ones too, for an edge that disconnects', () => {
    const splitter = new LineSplitter({ maxLineBytes: 4 });
    splitter.push(encodeUtf8('ab'));
    expect(splitter.bytesSinceNewline).toBe(2);
    splitter.push(encodeUtf8('cdefgh'));
    expect(splitter.bytesSinceNewline).toBe(8);
    splitter.push(encodeUtf8('i\nxyz'));
    expect(splitter.bytesSinceNewline).toBe(3);
    splitter.push(encodeUtf8('\n'));
    expect(splitter.bytesSinceNewline).toBe(0);
  });
});

function readAll(text: string, limits = {}): string[] {
  return readChunks([encodeUtf8(text)], limits);
}

/** The lines as text, the faults as their code. Each chunk is overwritten once it was read. */
function readChunks(chunks: readonly Uint8Array[], limits = {}): string[] {
  const splitter = new LineSplitter(limits);
  const found = chunks.flatMap((chunk) => {
    const copy = chunk.slice();
    const lines = splitter.push(copy).map(shown);
    copy.fill(0x21);
    return lines;
  });
  return [...found, ...splitter.end().map(shown)];
}

function shown(line: Outcome<Uint8Array>): string {
  if (!line.ok) return line.issues.map((issue) => issue.code).join();
  return decodeUtf8(line.value) ?? [...line.value].join(' ');
}

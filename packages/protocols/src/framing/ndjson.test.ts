import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { encodeUtf8 } from '../platform.ts';
import { anyCharacter } from './any-character.contract.ts';
import { expectSameAtAnyCut, expectSameAtEveryCut } from './cuts.contract.ts';
import { NdjsonReader, ndjsonLine } from './ndjson.ts';

describe('a line', () => {
  test('is one JSON value, with LF or CRLF after it and blank lines around it', () => {
    expect(readText('{"a":1}\n\n[2]\r\n  \r\n"three"\n')).toEqual([{ a: 1 }, [2], 'three']);
  });

  test('may have white space in it', () => {
    expect(readText(' { "a" :\t1 }\t\n')).toEqual([{ a: 1 }]);
  });

  test('may hold U+2028 and U+2029 inside a string', () => {
    expect(readText('{"a":"x\u2028y\u2029z"}\n')).toEqual([{ a: 'x\u2028y\u2029z' }]);
  });

  test.each([
    ['U+2028 outside a string', '{"a":1}\u2028\n', 'not_json'],
    ['two values', '{"a":1}{"b":2}\n', 'not_json'],
    ['two values with a space between them', '{"a":1} {"b":2}\n', 'not_json'],
    ['a NUL', '{"a":1}\0\n', 'not_json'],
    ['a NUL inside a string', '{"a":"\0"}\n', 'not_json'],
    ['a byte order mark', '\uFEFF{"a":1}\n', 'not_json'],
    ['half a value', '{"a":\n', 'not_json'],
    ['a repeated key', '{"a":1,"a":2}\n', 'duplicate_key'],
    ['a lone surrogate', '{"a":"\\ud800"}\n', 'lone_surrogate'],
    ['a number that is not finite', '{"a":1e400}\n', 'inexact_number'],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}\n`, 'too_deep'],
  ])('with %s is one fault, and the next line is read as usual', (_, line, code) => {
    expect(readText(`${line}{"next":true}\n`)).toEqual([code, { next: true }]);
  });

  test('that is not UTF-8 is one fault, and the next line is read as usual', () => {
    const stream = Uint8Array.of(...encodeUtf8('{"a":"'), 0xc3, 0x28, ...encodeUtf8('"}\n{"next":true}\n'));
    expect(readChunks([stream])).toEqual(['not_utf8', { next: true }]);
  });

  test('broken inside a string is two faults: a raw line break always ends the line', () => {
    expect(readText('{"a":"b\nc"}\n1\n')).toEqual(['not_json', 'not_json', 1]);
  });

  test('past the limit is one fault', () => {
    expect(readText('{"a":"12345678"}\n{}\n', { maxLineBytes: 8 })).toEqual(['line_too_long', {}]);
  });

  test('is read by the limits given', () => {
    expect(readText('[[1]]\n[1e400]\n[9007199254740993]\n', { depth: 1, numbers: 'exact' })).toEqual([
      'too_deep',
      'inexact_number',
      'inexact_number',
    ]);
  });

  test('without its line break is never a value, however whole it looks', () => {
    expect(readText('{"a":1}\n{"b":2}')).toEqual([{ a: 1 }, 'partial_line']);
  });

  test('that is not whole yet is counted', () => {
    const reader = new NdjsonReader();
    reader.push(encodeUtf8('1\n{"a":'));
    expect(reader.bytesSinceNewline).toBe(5);
  });
});

describe('wherever the stream is cut', () => {
  test('the values and faults are the same, at every place of a stream that has everything', () => {
    const stream = encodeUtf8(
      '{"ä":"€😀"}\r\n\r\n{"a":1}{"b":2}\n["\u2028"]\n["too long for the limit"]\r\n"\0"\n\uFEFF1\n12345678901234\r\n{"a":1,"a":2}\nnull\n"half',
    );
    const read = (chunks: readonly Uint8Array[]) => readChunks(chunks, { maxLineBytes: 16 });
    expectSameAtEveryCut(stream, read, [
      { ä: '€😀' },
      'not_json',
      ['\u2028'],
      'line_too_long',
      'not_json',
      'not_json',
      12345678901234,
      'duplicate_key',
      null,
      'partial_line',
    ]);
  });

  test('the values are the same, for any messages', () => {
    const streams = messages.map((values) => encodeUtf8(values.map(ndjsonLine).join('')));
    expectSameAtAnyCut(streams, (chunks) => readChunks(chunks));
  });
});

describe('written lines', () => {
  test('is one compact line with one LF', () => {
    expect(ndjsonLine({ a: 'b\nc\r', d: [1, 2] })).toBe('{"a":"b\\nc\\r","d":[1,2]}\n');
  });

  test('is read back as the same messages, any of them', () => {
    fc.assert(
      fc.property(messages, (values) => {
        const text = values.map(ndjsonLine).join('');
        expect(text.match(/\n/g)?.length ?? 0).toBe(values.length);
        expect(readText(text)).toEqual(values);
      }),
    );
  });
});

/** Any JSON value that survives `JSON.stringify`, so without -0. */
const messages = fc
  .array(fc.jsonValue({ maxDepth: 4, stringUnit: anyCharacter }), { maxLength: 6 })
  .map((values) => JSON.parse(JSON.stringify(values)) as Json[]);

function readText(text: string, limits = {}): unknown[] {
  return readChunks([encodeUtf8(text)], limits);
}

/** The values, and the code of each fault in its place. */
function readChunks(chunks: readonly Uint8Array[], limits = {}): unknown[] {
  const reader = new NdjsonReader(limits);
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()].map((outcome) =>
    outcome.ok ? outcome.value : outcome.issues.map((issue) => issue.code).join(),
  );
}

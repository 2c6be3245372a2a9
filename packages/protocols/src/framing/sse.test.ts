import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { encodeUtf8 } from '../platform.ts';
import { anyCharacter } from './any-character.contract.ts';
import { sseComment, sseEvent, sseRetry } from './sse.ts';
import { SseParser } from './sse-parser.ts';

describe('an event', () => {
  test('is its id, its name and its data on a line each, and a blank line', () => {
    expect(sseEvent({ id: 7, event: 'frame', data: { a: 1 } })).toBe('id: 7\nevent: frame\ndata: {"a":1}\n\n');
  });

  test('needs neither id nor name, and 0 is an id', () => {
    expect(sseEvent({ data: null })).toBe('data: null\n\n');
    expect(sseEvent({ id: 0, data: '' })).toBe('id: 0\ndata: ""\n\n');
  });

  test('has its data on one line whatever is in it', () => {
    const data = { text: 'a\n\ndata: {"forged":true}\r\rid: 9\u2028event: x' };
    expect(sseEvent({ data }).split(/\r\n|\r|\n/)).toEqual([
      'data: {"text":"a\\n\\ndata: {\\"forged\\":true}\\r\\rid: 9\\u2028event: x"}',
      '',
      '',
    ]);
  });

  test.each([['a\nb'], ['a\rb'], [''], ['Frame'], ['a b'], ['a:b'], ['frame\n'], ['é']])(
    'is not written under the name %j: only we can get that wrong',
    (event) => {
      expect(() => sseEvent({ event, data: 1 })).toThrow('an event name has a-z, 0-9 and -');
    },
  );

  test.each([[-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY], [2 ** 53]])('has no id such as %d', (id) => {
    expect(() => sseEvent({ id, data: 1 })).toThrow('id is a whole number');
  });
});

test('a comment is a line that no client sees', () => {
  expect(sseComment()).toBe(':\n\n');
  expect(sseComment('still here')).toBe(': still here\n\n');
  expect(() => sseComment('a\ndata: forged')).toThrow('a comment is one line');
  expect(() => sseComment('a\rb')).toThrow('a comment is one line');
});

test('retry is in whole milliseconds', () => {
  expect(sseRetry(3000)).toBe('retry: 3000\n\n');
  expect(() => sseRetry(-1)).toThrow('retry is a whole number');
  expect(() => sseRetry(0.5)).toThrow('retry is a whole number');
});

test('whatever the payload, a parser that conforms yields exactly the frames sent', () => {
  const hostile = fc.constantFrom('\n\n', '\r', '\r\n', 'data: x', '\nid: 9\n', ':', '\u2028', '\uFEFF', '\0', '😀');
  const text = fc.array(fc.oneof(hostile, fc.string({ unit: anyCharacter }))).map((parts) => parts.join(''));
  const data = fc.oneof(
    text,
    fc.dictionary(text, text),
    fc.jsonValue({ stringUnit: anyCharacter }),
  ) as fc.Arbitrary<Json>;
  const frame = fc.record({ id: fc.maxSafeNat(), event: fc.constantFrom('frame', 'end', 'a-1'), data });
  fc.assert(
    fc.property(fc.array(frame), fc.constantFrom('', sseComment(), sseRetry(10)), (frames, between) => {
      const parser = new SseParser();
      const received = parser.push(encodeUtf8(frames.map((sent) => sseEvent(sent) + between).join('')));
      expect(received).toEqual(
        frames.map(({ id, event, data }) => ({
          ok: true,
          value: { event, lastEventId: String(id), data: expect.toSatisfy(sameJson(data)) },
          warnings: [],
        })),
      );
    }),
  );
});

function sameJson(data: Json): (text: string) => boolean {
  return (text) => JSON.stringify(JSON.parse(text)) === JSON.stringify(data);
}

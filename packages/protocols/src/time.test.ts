import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTimestamp, isUtcTimestamp, parseTimestamp, UTC_TIMESTAMP } from './time.ts';

describe('RFC 3339 is read', () => {
  test.each([
    ['2026-03-28T12:00:00Z', '2026-03-28T12:00:00.000Z'],
    ['2026-03-28t12:00:00z', '2026-03-28T12:00:00.000Z'],
    ['2026-03-28T12:00:00.5Z', '2026-03-28T12:00:00.500Z'],
    ['2026-03-28T12:00:00.123456789Z', '2026-03-28T12:00:00.123Z'],
    ['2026-03-28T12:00:00.99999999999999999999Z', '2026-03-28T12:00:00.999Z'],
    ['2026-03-28T14:30:00+02:30', '2026-03-28T12:00:00.000Z'],
    ['2026-03-28T00:30:00-23:59', '2026-03-29T00:29:00.000Z'],
    ['2026-03-28T12:00:00-00:00', '2026-03-28T12:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s', (text, iso) => {
    expect(new Date(parseTimestamp(text) ?? Number.NaN).toISOString()).toBe(iso);
  });

  test('as every time that JavaScript writes', () => {
    const dates = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        expect(parseTimestamp(date.toISOString())).toBe(date.getTime());
      }),
    );
  });

  test('with every number of milliseconds exactly', () => {
    for (let count = 0; count < 1000; count++) {
      expect(parseTimestamp(`1970-01-01T00:00:00.${String(count).padStart(3, '0')}Z`)).toBe(count);
    }
  });
});

describe('anything else is not', () => {
  test.each([
    ['', 'nothing'],
    ['9', 'a date to Date.parse'],
    ['2026-03-28', 'no time'],
    ['2026-03-28T12:00Z', 'no seconds'],
    ['2026-03-28T12:00:00', 'no zone'],
    ['2026-03-28 12:00:00Z', 'no T'],
    ['2026-03-28T12:00:00.Z', 'a point without digits'],
    ['2026-03-28T12:00:00,5Z', 'a comma'],
    ['2026-03-28T12:00:00+0200', 'a zone without its colon'],
    ['2026-03-28T12:00:00+24:00', 'a zone past a day'],
    ['2026-03-28T12:00:00+02:60', 'a zone of 60 minutes'],
    ['2026-02-30T12:00:00Z', 'February 30th'],
    ['2025-02-29T12:00:00Z', 'no leap year'],
    ['1900-02-29T12:00:00Z', 'no leap year by the century'],
    ['2026-04-31T12:00:00Z', 'April 31st'],
    ['2026-00-10T12:00:00Z', 'month 0'],
    ['2026-13-10T12:00:00Z', 'month 13'],
    ['2026-03-00T12:00:00Z', 'day 0'],
    ['2026-03-28T24:00:00Z', 'hour 24'],
    ['2026-03-28T12:60:00Z', 'minute 60'],
    ['2016-12-31T23:59:60Z', 'a leap second, which no clock here can hold'],
    ['26-03-28T12:00:00Z', 'a short year'],
    ['+002026-03-28T12:00:00Z', 'a long year'],
    [' 2026-03-28T12:00:00Z', 'a space before'],
    ['2026-03-28T12:00:00Z\n', 'a line break after'],
    ['２026-03-28T12:00:00Z', 'a full-width digit'],
    ['2025-13-45T99:99:99Z', 'digits that match a pattern'],
  ])('%j: %s', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});

test('every valid timestamp can be read, and no other text', () => {
  const digit = fc.constantFrom(...'0123456789');
  const almost = fc
    .tuple(
      fc.constantFrom('2026-02-28T23:59:59.999Z', '2024-02-29t00:00:00z', '2026-12-31T12:00:00+05:30'),
      fc.nat(30),
      digit,
    )
    .map(([text, at, character]) => text.slice(0, at) + character + text.slice(at + 1));
  fc.assert(
    fc.property(fc.oneof(almost, fc.string()), (text) => {
      expect(isTimestamp(text)).toBe(parseTimestamp(text) !== undefined);
      expect(isUtcTimestamp(text)).toBe(isTimestamp(text) && new RegExp(UTC_TIMESTAMP).test(text));
    }),
    { numRuns: 5000 },
  );
});

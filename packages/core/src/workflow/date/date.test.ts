import { describe, expect, test } from 'vitest';
import { resultOf, runWorkflow } from '../../../test-support/run-workflow.ts';

describe('operations on times', () => {
  const now = async (config: object) => {
    const step = { GetCurrentDateTime: { outputPath: '/workflow/out', ...config } };
    return (await runWorkflow({ step })).results.get('step');
  };

  test('GetCurrentDateTime reads the time and writes it in the given form', async () => {
    expect(await now({})).toBe('2026-03-28T12:00:00Z');
    expect(await now({ timezone: 'Europe/Madrid' })).toBe('2026-03-28T13:00:00+01:00');
    expect(await now({ format: 'timestamp' })).toBe(1774699200);
    expect(
      await now({ format: 'custom', formatString: '%A %d %B %Y, %I:%M %p %z 100%%', timezone: 'Asia/Kolkata' }),
    ).toBe('Saturday 28 March 2026, 05:30 PM +0530 100%');
  });

  test.each([
    ['2026-01-01T00:00:00Z', {}, '2026-01-01T09:00:00+09:00'],
    ['2026-01-01T00:00:00', { fromTimezone: 'America/New_York' }, '2026-01-01T14:00:00+09:00'],
    ['2026-01-01 00:00', {}, '2026-01-01T09:00:00+09:00'],
    [1767225600, {}, '2026-01-01T09:00:00+09:00'],
    [{ year: 2026 }, {}, '2026-01-01T09:00:00+09:00'],
  ])('ConvertTimezone reads %j', async (input, config, expected) => {
    expect(await resultOf('ConvertTimezone', input as never, { toTimezone: 'Asia/Tokyo', ...config })).toBe(expected);
  });

  test.each(['soon', '2026-02-30T00:00:00Z', { year: 2026, month: 13 }, 1e20])(
    'ConvertTimezone refuses %j',
    async (input) => {
      expect(await resultOf('ConvertTimezone', input as never, { toTimezone: 'UTC' })).toMatchObject({
        type: 'DataError',
      });
    },
  );

  test.each([
    // The clocks of Madrid go forward on the 29th of March 2026 and back on the 25th of October.
    ['2026-03-28T12:00:00', { days: 1 }, '2026-03-29T12:00:00+02:00'],
    ['2026-03-28T12:00:00', { hours: 24 }, '2026-03-29T13:00:00+02:00'],
    ['2026-03-28T02:30:00', { days: 1 }, '2026-03-29T03:30:00+02:00'],
    ['2026-10-24T02:30:00', { days: 1 }, '2026-10-25T02:30:00+02:00'],
    ['2026-01-31T10:00:00', { months: 1 }, '2026-02-28T10:00:00+01:00'],
    ['2024-02-29T10:00:00', { years: 1 }, '2025-02-28T10:00:00+01:00'],
    ['2026-03-31T10:00:00', { months: 13, days: 1 }, '2027-05-01T10:00:00+02:00'],
  ])('DateCalculation moves by the calendar: %s and %j', async (input, config, expected) => {
    const moved = await resultOf('DateCalculation', input, { operation: 'add', timezone: 'Europe/Madrid', ...config });
    expect(moved).toBe(expected);
  });

  test('DateCalculation subtracts, keeps an offset, and ends where years do', async () => {
    expect(await resultOf('DateCalculation', '2026-03-31T10:00:00+05:30', { operation: 'subtract', months: 1 })).toBe(
      '2026-02-28T10:00:00+05:30',
    );
    const far = { operation: 'add', years: 1_000_000 };
    expect(await resultOf('DateCalculation', '2026-03-31', far)).toMatchObject({ type: 'DataError' });
  });
});

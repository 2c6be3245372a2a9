import { type DateCalculationConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { addCalendar, type Duration } from '../date/calendar.ts';
import { instantAt, outsideOfYears } from '../date/input.ts';
import { compileOutput } from '../date/output.ts';
import { compileZone } from '../date/zone.ts';
import type { Operation } from '../operation.ts';

/**
 * Adds to a time or subtracts from it. Years, months and days are by the calendar: a month later is the same day of the
 * next month, or its last day, and a day later is the same local time, even across a change of the clocks. Hours and
 * smaller units are elapsed time.
 */
export const dateCalculation: Operation<DateCalculationConfig> = {
  description: OPERATIONS.DateCalculation,
  compile(config, compiling) {
    const { inputPath, operation, timezone, format = 'iso8601', formatString = '' } = config;
    const { years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = config;
    const input = compiling.path(inputPath);
    const given = timezone === undefined ? undefined : compileZone(timezone, '/timezone', compiling);
    const utc = compileZone('UTC', '/timezone', compiling);
    const write = compileOutput(format, formatString, compiling);
    const sign = operation === 'subtract' ? -1 : 1;
    const duration: Duration = {
      months: sign * (years * 12 + months),
      days: sign * days,
      milliseconds: sign * ((hours * 60 + minutes) * 60 + seconds) * 1000,
    };
    return (step) => {
      const { instant, zone } = instantAt(step, input, given ?? utc);
      // A time with an offset keeps it, unless a zone is given.
      const where = given ?? zone;
      const moved = addCalendar(instant, duration, where);
      if (Number.isNaN(moved)) throw outsideOfYears();
      return write(moved, where);
    };
  },
};

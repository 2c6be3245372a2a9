import { type ConvertTimezoneConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { instantAt } from '../date/input.ts';
import { compileOutput } from '../date/output.ts';
import { compileZone } from '../date/zone.ts';
import type { Operation } from '../operation.ts';

/** Converts a time to another zone. A time without a zone is read in `fromTimezone`, by default UTC. */
export const convertTimezone: Operation<ConvertTimezoneConfig> = {
  description: OPERATIONS.ConvertTimezone,
  compile({ inputPath, fromTimezone = 'UTC', toTimezone, format = 'iso8601', formatString = '' }, compiling) {
    const input = compiling.path(inputPath);
    const from = compileZone(fromTimezone, '/fromTimezone', compiling);
    const to = compileZone(toTimezone, '/toTimezone', compiling);
    const write = compileOutput(format, formatString, compiling);
    return (step) => write(instantAt(step, input, from).instant, to);
  },
};

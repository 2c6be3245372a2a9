import { type GetCurrentDateTimeConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { compileOutput } from '../date/output.ts';
import { compileZone } from '../date/zone.ts';
import type { Operation } from '../operation.ts';

/** The current time. Default: UTC. */
export const getCurrentDateTime: Operation<GetCurrentDateTimeConfig> = {
  description: OPERATIONS.GetCurrentDateTime,
  compile({ timezone = 'UTC', format = 'iso8601', formatString = '' }, compiling) {
    const zone = compileZone(timezone, '/timezone', compiling);
    const write = compileOutput(format, formatString, compiling);
    return async (step) => {
      const instant = await step.now();
      step.cameFrom(`time ${instant}`);
      return write(instant, zone);
    };
  },
};

import type { Json } from '@dragoman/protocols';
import { type FilterDataConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { compileComparison } from '../comparison.ts';
import { arrayAt } from '../input.ts';
import { itemTest, sieved } from '../item-test.ts';
import type { Operation } from '../operation.ts';

/** Keeps the items of an array that meet every condition (A2E, FilterData). */
export const filterData: Operation<FilterDataConfig> = {
  description: OPERATIONS.FilterData,
  cacheFor: 60,
  compile(config, compiling) {
    const input = compiling.path(config.inputPath);
    const conditions = config.conditions.map(({ field, operator, value = null }, at) => {
      const { rightOf, testOf } = compileComparison(operator, value as Json, `/conditions/${at}`, compiling);
      return { field, operator, rightOf, testOf };
    });
    return (step) => {
      const items = arrayAt(step, input);
      step.boundedBy(step.bytesAt(input));
      const tests = conditions.map(({ field, operator, rightOf, testOf }) => {
        const right = rightOf(step);
        return itemTest(field, operator, right, testOf(right));
      });
      return sieved(items, tests);
    };
  },
};

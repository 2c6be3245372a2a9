import { arrayAt } from '../input.ts';
import type { Transform } from './transform.ts';

/** The first items, as many as `count` says; with `offset`, those after so many. */
export const limitItems: Transform = {
  compile({ count = 0, offset = 0 }, input) {
    return (step) => {
      step.boundedBy(step.bytesAt(input));
      return arrayAt(step, input).slice(offset, offset + count);
    };
  },
};

/** All items but the first ones, as many as `count` says. */
export const offsetItems: Transform = {
  compile({ count = 0 }, input) {
    return (step) => {
      step.boundedBy(step.bytesAt(input));
      return arrayAt(step, input).slice(count);
    };
  },
};

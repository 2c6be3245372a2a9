import { arrayAt } from '../input.ts';
import type { Transform } from './transform.ts';

/** The first `count` items; with `offset`, after skipping that many. */
export const limitItems: Transform = {
  compile({ count = 0, offset = 0 }, input) {
    return (step) => {
      step.boundedBy(step.bytesAt(input));
      return arrayAt(step, input).slice(offset, offset + count);
    };
  },
};

/** All items except the first `count`. */
export const offsetItems: Transform = {
  compile({ count = 0 }, input) {
    return (step) => {
      step.boundedBy(step.bytesAt(input));
      return arrayAt(step, input).slice(count);
    };
  },
};

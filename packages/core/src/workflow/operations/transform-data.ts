import { show } from '@dragoman/protocols';
import { aggregation, OPERATIONS, type TransformDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';
import { aggregate } from '../transforms/aggregate.ts';
import { group } from '../transforms/group.ts';
import { map } from '../transforms/map.ts';
import { select } from '../transforms/select.ts';
import { limitItems, offsetItems } from '../transforms/slice.ts';
import { sort } from '../transforms/sort.ts';
import type { Transform } from '../transforms/transform.ts';

/** Maps, sorts, groups, aggregates, selects or slices data (A2E, TransformData). */
export const transformData: Operation<TransformDataConfig> = {
  description: OPERATIONS.TransformData,
  cacheFor: 60,
  // Revision 1 of a single aggregation gave {"result": n}.
  revision: (config) => (aggregation(config) === undefined ? undefined : 2),
  compile({ inputPath, transform, config = {} }, compiling) {
    const input = compiling.path(inputPath);
    const found = find(transform);
    if (found === undefined) {
      compiling.problem(
        '/transform',
        `transform ${show(transform)} is not one of ${Object.keys(TRANSFORMS).join(', ')}`,
      );
      return () => null;
    }
    return found.compile(config, input);
  },
};

function find(transform: string): Transform | undefined {
  return Object.hasOwn(TRANSFORMS, transform) ? TRANSFORMS[transform] : undefined;
}

const TRANSFORMS: Readonly<Record<string, Transform>> = {
  map,
  sort,
  group,
  aggregate,
  select,
  limit: limitItems,
  offset: offsetItems,
};

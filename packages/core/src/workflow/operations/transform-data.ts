import { show } from '@dragoman/protocols';
import { OPERATIONS, type TransformDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';
import { compileAggregate } from '../transforms/aggregate.ts';
import { compileGroup } from '../transforms/group.ts';
import { compileMap } from '../transforms/map.ts';
import { compileSelect } from '../transforms/select.ts';
import { compileSort } from '../transforms/sort.ts';
import type { Transform } from '../transforms/transform.ts';

/** Maps, sorts, groups, aggregates or selects from data (A2E, TransformData). */
export const transformData: Operation<TransformDataConfig> = {
  description: OPERATIONS.TransformData,
  cacheFor: 60,
  compile({ inputPath, transform, config = {} }, compiling) {
    const input = compiling.path(inputPath);
    const compile = Object.hasOwn(TRANSFORMS, transform) ? TRANSFORMS[transform] : undefined;
    if (compile === undefined) {
      compiling.problem('/transform', `transform ${show(transform)} is none of ${Object.keys(TRANSFORMS).join(', ')}`);
      return () => null;
    }
    return compile(config, input, compiling);
  },
};

const TRANSFORMS: Readonly<Record<string, Transform>> = {
  map: compileMap,
  sort: compileSort,
  group: compileGroup,
  aggregate: compileAggregate,
  select: compileSelect,
};

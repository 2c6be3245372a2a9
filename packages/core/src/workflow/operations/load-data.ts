import { type LoadDataConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';

/** Reads what StoreData kept under a key: the same as reading at `/store/<key>`, as an operation of its own. */
export const loadData: Operation<LoadDataConfig> = {
  description: OPERATIONS.LoadData,
  compile({ key }, compiling) {
    const stored = compiling.path(`/store/${key}`);
    return (step) => step.read(stored);
  },
};

import { type LoadDataConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';

/** Reads the value that StoreData stored under a key, like `/store/<key>`. */
export const loadData: Operation<LoadDataConfig> = {
  description: OPERATIONS.LoadData,
  compile({ key }, compiling) {
    const stored = compiling.path(`/store/${key}`);
    return (step) => step.read(stored);
  },
};

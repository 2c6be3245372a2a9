import { OPERATIONS, type StoreDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';

/** Keeps data under a key (A2E, StoreData). Later operations read it at `/store/<key>`, and so do later executions. */
export const storeData: Operation<StoreDataConfig> = {
  description: OPERATIONS.StoreData,
  hasEffect: () => true,
  compile({ inputPath, storage, key }, compiling) {
    const input = compiling.path(inputPath);
    const place = compiling.path(`/store/${key}`);
    return async (step) => {
      const value = step.read(input);
      const json = new TextEncoder().encode(JSON.stringify(value));
      await step.store({ storage, key, json });
      step.write(place, value);
      return { stored: true, storage, key };
    };
  },
};

import { DATA_LIMITS, parseJsonBytes } from '@dragoman/protocols';
import { OPERATIONS, type StoreDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';
import { dataError } from '../step-error.ts';
import { storedPath } from '../stored-name.ts';

/** Keeps data under a key (A2E, StoreData). Later operations read it at `/store/<key>`, and so do later executions. */
export const storeData: Operation<StoreDataConfig> = {
  description: OPERATIONS.StoreData,
  hasEffect: () => true,
  compile({ inputPath, storage, key }, compiling) {
    const input = compiling.path(inputPath);
    const place = storedPath(key);
    return async (step) => {
      const value = step.read(input);
      const json = new TextEncoder().encode(JSON.stringify(value));
      // Nothing is kept that no later execution could read.
      const read = parseJsonBytes(json, DATA_LIMITS);
      if (!read.ok) {
        throw dataError(`the value at ${inputPath} cannot be stored: ${read.issues[0]?.message}`, {
          suggestions: ['store a part of it: name the member to use'],
        });
      }
      await step.store({ storage, key, json });
      step.write(place, value);
      return { stored: true, storage, key };
    };
  },
};

import { DATA_LIMITS, parseJsonBytes } from '@dragoman/protocols';
import { OPERATIONS, type StoreDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';
import { dataError } from '../step-error.ts';
import { storedPath } from '../stored-name.ts';

/** Stores data under a key (A2E, StoreData). Later operations and later executions read it at `/store/<key>`. */
export const storeData: Operation<StoreDataConfig> = {
  description: OPERATIONS.StoreData,
  hasEffect: () => true,
  compile({ inputPath, storage, key }, compiling) {
    const input = compiling.path(inputPath);
    const place = storedPath(key);
    return async (step) => {
      const value = step.read(input);
      const json = new TextEncoder().encode(JSON.stringify(value));
      // A later execution must be able to parse the value within the same limits.
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

import type { Json } from '@dragoman/protocols';

/**
 * Where results of operations on data can be found again (A2E, Caching). A lineage names the operation, its configuration
 * and, by their own lineage, its inputs, so that what is found is never stale and nothing large has to be hashed. Answers of
 * APIs are cached by whoever fetches them.
 */
export interface ResultCache {
  get(lineage: string): Json | undefined;
  put(lineage: string, value: Json, bound: { readonly bytes: number; readonly seconds: number }): void;
}

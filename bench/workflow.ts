import { benchData } from './workflow-data.ts';

/** Workflows: operations on data in a thread, against the same by hand. */
export async function run(): Promise<readonly string[]> {
  return benchData();
}

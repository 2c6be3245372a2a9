import { benchData } from './workflow-data.ts';
import { benchStart } from './workflow-start.ts';

/** Workflows: what an execution costs by itself, and operations on data in a thread against the same by hand. */
export async function run(): Promise<readonly string[]> {
  const start = await benchStart();
  console.log('');
  return [...start, ...(await benchData())];
}

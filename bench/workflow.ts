import { benchData } from './workflow-data.ts';
import { benchExecutions } from './workflow-executions.ts';

/** Workflows: durable executions against plain JavaScript in memory, and operations on data against the same by hand. */
export async function run(): Promise<readonly string[]> {
  const executions = await benchExecutions();
  console.log('');
  return [...executions, ...(await benchData())];
}

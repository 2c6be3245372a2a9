import { benchData } from './workflow/data.ts';
import { benchExecutions } from './workflow/executions.ts';
import { benchStart } from './workflow/start.ts';

/**
 * Workflows: durable executions against plain JavaScript in memory, what an execution costs by itself, and operations on
 * data in a thread against the same by hand.
 */
export async function run(): Promise<readonly string[]> {
  const shortfalls: string[] = [];
  for (const part of [benchExecutions, benchStart, benchData]) {
    shortfalls.push(...(await part()));
    console.log('');
  }
  return shortfalls;
}

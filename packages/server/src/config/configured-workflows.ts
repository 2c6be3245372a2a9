import { readFileSync } from 'node:fs';
import type { StoredDefinition } from '@dragoman/core';
import type { CompleteConfig } from './complete-config.ts';

/** The workflows of `workflows.stored`, with the text of their files. Throws for a file that cannot be read. */
export function configuredWorkflows({ workflows }: Pick<CompleteConfig, 'workflows'>): StoredDefinition[] {
  return Object.entries(workflows.stored).map(([name, { file, description = '' }]) => {
    try {
      return { name, description, text: readFileSync(file, 'utf8') };
    } catch (error) {
      throw new Error(`workflows.stored.${name}: ${file} cannot be read: ${(error as Error).message}`);
    }
  });
}

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginStates } from '@dragoman/core';

/** What plugins want to have back after a restart, a file each. Written beside and put in place: never half. */
export function pluginStates(folder: string): PluginStates {
  const pathOf = (name: string) => join(folder, `${name}.json`);
  return {
    load: (name) => {
      try {
        return JSON.parse(readFileSync(pathOf(name), 'utf8'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    save: (name, state) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${pathOf(name)}.new`, JSON.stringify(state), { mode: 0o600, flush: true });
      renameSync(`${pathOf(name)}.new`, pathOf(name));
    },
  };
}

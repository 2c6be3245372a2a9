import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log, PluginStates } from '@dragoman/core';

/** The saved states of plugins, one file each, replaced atomically. */
export function pluginStates(folder: string, log: Log): PluginStates {
  const pathOf = (name: string) => join(folder, `${name}.json`);
  return {
    load: (name) => {
      const path = pathOf(name);
      const text = textAt(path);
      if (text === undefined) return undefined;
      try {
        return JSON.parse(text);
      } catch (error) {
        // A damaged file is renamed, because the next save would overwrite it and an operator may still want to repair
        // it.
        const aside = `${path}.damaged`;
        renameSync(path, aside);
        const { message } = error as Error;
        log.error(
          { plugin: name, error: message, fix: `when it is stopped, fix ${aside} and move it to ${path}` },
          DAMAGED,
        );
        return undefined;
      }
    },
    save: (name, state) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${pathOf(name)}.new`, JSON.stringify(state), { mode: 0o600, flush: true });
      renameSync(`${pathOf(name)}.new`, pathOf(name));
    },
    place: pathOf,
  };
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const DAMAGED = 'what a plugin had saved is damaged: it starts without that';

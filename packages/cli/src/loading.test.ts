import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Everything that is loaded with a file, before anything in it is called: files by path, packages by name. */
function loadedWith(file: string, found: Set<string> = new Set()): Set<string> {
  found.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) {
    const path = name.startsWith('.') ? join(dirname(file), name) : name;
    if (found.has(path)) continue;
    if (name.startsWith('.')) loadedWith(path, found);
    else found.add(path);
  }
  return found;
}

const STATIC_IMPORT = /^(?:import|export) (?!type )(?:[^;']*? from )?'([^']+)';$/gm;
const source = (name: string) => fileURLToPath(new URL(name, import.meta.url));

test.each(['./main.ts', './tour/tour.ts', './workflow/actions.ts', './listen/listen.ts'])(
  '%s loads no server: only who runs one pays for that',
  (name) => {
    const loaded = loadedWith(source(name));
    expect(loaded).toContain('@dragoman/protocols');
    expect([...loaded].filter((one) => /@dragoman\/(?:server|core)/.test(one))).toEqual([]);
  },
);

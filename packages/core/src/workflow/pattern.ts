import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { Compiling } from './operation.ts';

/** A pattern an agent wrote, on an engine that takes time linear in the text: no pattern can hang the server. */
export function compilePattern(pattern: string, pointer: string, compiling: Compiling): RE2JS | undefined {
  try {
    return library().RE2JS.compile(pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is no pattern';
    compiling.problem(pointer, `pattern cannot be used: ${why}`, 'write it without look-around and back references');
    return undefined;
  }
}

/** Loaded with the first pattern: few workflows have one, and it is the largest library here. */
function library(): typeof import('re2js') {
  return load('re2js');
}

const load = createRequire(import.meta.url);

import { RE2JS } from 're2js';
import type { Compiling } from './operation.ts';

/** A pattern an agent wrote, on an engine that takes time linear in the text: no pattern can hang the server. */
export function compilePattern(pattern: string, pointer: string, compiling: Compiling): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is no pattern';
    compiling.problem(pointer, `pattern cannot be used: ${why}`, 'write it without look-around and back references');
    return undefined;
  }
}

import type { RE2JS } from 're2js';
import { linearPattern } from '../schema/linear-pattern.ts';
import type { Compiling } from './operation.ts';

/** Compiles a pattern that an agent wrote, to run in linear time. An invalid pattern is a problem of the plan. */
export function compilePattern(pattern: string, pointer: string, compiling: Compiling): RE2JS | undefined {
  try {
    return linearPattern(pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is not a valid pattern';
    compiling.problem(pointer, `pattern cannot be used: ${why}`, 'write it without look-around and back references');
    return undefined;
  }
}

import type { Issue } from './outcome.ts';

/** The warning about a field that the other dialect cannot carry. */
export function lost(pointer: string, message: string): Issue {
  return { pointer, code: 'lost', message };
}

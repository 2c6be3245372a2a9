import type { Issue } from '../outcome.ts';

/** The problem with a field that has one of these names. */
export function forbiddenKey(pointer: string, name: string): Issue {
  return {
    pointer,
    code: 'forbidden_key',
    message: `${name} must not be the name of a field; it is one of ${[...FORBIDDEN_KEYS].join(', ')}`,
    suggestion: `remove ${name}`,
  };
}

/** Names that reach an object's prototype where code is careless. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

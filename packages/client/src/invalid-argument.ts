import { isObject, nearest, show } from '@dragoman/protocols';
import { DragomanError } from './dragoman-error.ts';

/** The error for an invalid argument. It is thrown before anything is sent. */
export function invalidArgument(message: string, ...suggestions: string[]): DragomanError {
  return new DragomanError({ code: 'invalid_argument', message, suggestions });
}

/** Returns a non-empty string, such as an id, or throws. */
export function textGiven(value: string, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalidArgument(`${name} must be a non-empty string; got ${shown(value)}`);
}

export function objectGiven<T extends object>(value: T, name: string, example: string): T {
  if (isObject(value)) return value;
  throw invalidArgument(`${name} must be an object, such as ${example}; got ${shown(value)}`);
}

/** The error for a value that JSON cannot represent, such as a BigInt or a cycle. */
export function unsayable(what: string, cause: unknown): DragomanError {
  const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
  return new DragomanError({
    code: 'invalid_argument',
    message: `${what} cannot be written as JSON: ${reason}`,
    cause,
  });
}

/** Throws for an unknown option, which would have no effect. */
export function optionsGiven<T extends object>(options: T, known: readonly (keyof T & string)[]): T {
  objectGiven(options, 'options', `{ ${known[0]} }`);
  for (const name in options) {
    if ((known as readonly string[]).includes(name)) continue;
    const close = nearest(name, known);
    const suggestions = close === undefined ? [] : [`did you mean ${close}?`];
    throw invalidArgument(`${name} is not an option; expected ${known.join(', ')}`, ...suggestions);
  }
  return options;
}

/** As `show`, including values that JSON does not have. */
export function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const isSayable = value === undefined || ['string', 'boolean', 'object'].includes(typeof value);
  return isSayable ? show(value) : `a ${typeof value}`;
}

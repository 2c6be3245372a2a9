import { dataError } from './step-error.ts';

/** What was calculated, if it is a number that JSON can tell: the others it would tell as null. */
export function finite(value: number, operation: string): number {
  if (!Number.isFinite(value)) {
    throw dataError(`${operation} does not give a finite number`, {
      suggestions: ['check with a Conditional whether there are numbers, and none too large, before'],
    });
  }
  return value;
}

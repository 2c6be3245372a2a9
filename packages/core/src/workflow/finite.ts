import { dataError } from './step-error.ts';

/** The calculated number, if it is finite: JSON would write others as null. */
export function finite(value: number, operation: string): number {
  if (!Number.isFinite(value)) {
    throw dataError(`${operation} does not give a finite number`, {
      suggestions: [
        'add a Conditional before this step: a list must have at least one number, and no number may make the result overflow',
      ],
    });
  }
  return value;
}

import { type Json, show } from '@dragoman/protocols';
import { formatPath, type Path } from '@dragoman/protocols/a2e-workflow';
import type { StepContext } from './operation.ts';
import { dataError, type StepError } from './step-error.ts';

/** The array at a path, or a DataError that says what is there instead. */
export function arrayAt(step: StepContext, path: Path): Json[] {
  const value = step.read(path);
  if (!Array.isArray(value)) throw wrongShape(path, 'an array', value);
  return value;
}

export function textAt(step: StepContext, path: Path): string {
  const value = step.read(path);
  if (typeof value !== 'string') throw wrongShape(path, 'a string', value);
  return value;
}

export function wrongShape(path: Path, expected: string, value: Json): StepError {
  const place = formatPath(path);
  const arrays = Array.isArray(value) || typeof value !== 'object' || value === null ? [] : arraysIn(value);
  const suggestions = expected === 'an array' ? arrays.map((name) => `did you mean ${place}/${name}?`) : [];
  return dataError(`${place} must be ${expected}; got ${show(value)}`, {
    details: { path: place, expected, got: kindOf(value) },
    suggestions,
  });
}

/** An answer often wraps the array it is about: {"data": […]}. */
function arraysIn(value: { readonly [name: string]: Json }): readonly string[] {
  return Object.keys(value)
    .filter((name) => Array.isArray(value[name]))
    .slice(0, 3);
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

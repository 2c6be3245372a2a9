import { type Json, show } from '@dragoman/protocols';
import { formatPath, type Path } from '@dragoman/protocols/a2e-workflow';
import type { StepContext } from './operation.ts';
import { dataError, type StepError } from './step-error.ts';

/** The array at a path, or a DataError that reports the actual value. */
export function arrayAt(step: StepContext, path: Path): Json[] {
  const value = step.read(path);
  if (!Array.isArray(value)) throw wrongShape(path, 'an array', value, Array.isArray);
  return value;
}

export function textAt(step: StepContext, path: Path): string {
  const value = step.read(path);
  if (!isText(value)) throw wrongShape(path, 'a string', value, isText);
  return value;
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

/**
 * The error of a value of the wrong type. `fits` finds the member to suggest: answers often wrap their data, as in
 * {"data": […]}.
 */
export function wrongShape(path: Path, expected: string, value: Json, fits: (value: Json) => boolean): StepError {
  const place = formatPath(path);
  return dataError(`${place} must be ${expected}; got ${show(value)}`, {
    details: { path: place, expected, got: kindOf(value) },
    suggestions: nearestFixes(place, value, fits),
  });
}

function nearestFixes(place: string, value: Json, fits: (value: Json) => boolean): readonly string[] {
  if (value === null) return ['check with a Conditional whether it is empty before'];
  if (Array.isArray(value)) return [`name one of its items, as ${place}[0], or work on each of them in a Loop`];
  if (typeof value !== 'object')
    return ['read a place that has it; if an API returned text, request JSON with an Accept header'];
  const names = Object.keys(value);
  const meant = names.filter((name) => fits(value[name] as Json)).slice(0, 3);
  if (meant.length > 0) return meant.map((name) => `did you mean ${place}/${name}?`);
  return [`name the member to use: it has ${names.slice(0, 6).join(', ') || 'no members'}`];
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

import { isAbsolute, relative } from 'node:path';

/** A path as a person would write it from here. */
export function shortPath(from: string, path: string): string {
  const short = relative(from, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? path : short;
}

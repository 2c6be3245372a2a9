import { isAbsolute, relative } from 'node:path';

/** A path relative to this folder, if that is shorter. */
export function shortPath(from: string, path: string): string {
  const short = relative(from, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? path : short;
}

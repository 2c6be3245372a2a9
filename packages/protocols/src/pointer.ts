import type { Json } from './json.ts';

/** RFC 6901: the pointer to `segments` below `parent`. */
export function pointerTo(parent: string, ...segments: readonly (string | number)[]): string {
  let pointer = parent;
  for (const segment of segments) pointer += `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return pointer;
}

export function segmentsOf(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value a pointer names, or `undefined`. Reads own members only. */
export function valueAt(value: unknown, pointer: string): Json | undefined {
  let current = value;
  for (const segment of segmentsOf(pointer)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return undefined;
    // The only own member of an array that is not an item.
    if (segment === 'length' && Array.isArray(current)) return undefined;
    current = (current as Record<string, unknown>)[segment];
  }
  return current as Json | undefined;
}

import { type Path, parsePath } from '@dragoman/protocols/a2e-workflow';

/** The place of a stored name in the data model: one step, even if the name has slashes and dots. */
export function storedPath(name: string): Path {
  return { root: 'store', segments: [{ literal: name, parts: [name] }], keys: ['store', name] };
}

/**
 * The stored names that a path may read from, the longest first: `/store/a/b.c[0]` may be in `a/b.c[0]`, `a/b.c`, `a/b`
 * or `a`.
 */
export function namesIn({ segments }: Path): readonly string[] {
  const whole = wholeOf(segments);
  const ends = [...whole.matchAll(/[/.[]/g)].map(({ index }) => index).filter((index) => index > 0);
  return [whole, ...ends.reverse().map((end) => whole.slice(0, end))];
}

/** Splits a path below `/store` into the stored name that it begins with, and the steps below that. */
export function pathBelow(name: string, { segments }: Path): Path {
  const parsed = parsePath(`/store/x${wholeOf(segments).slice(name.length)}`);
  if (!parsed.ok) throw new Error(`${name} is no beginning of the path`);
  const [first, ...rest] = parsed.path.segments;
  const start = { literal: `${name}${first?.literal.slice(1)}`, parts: [name, ...(first?.parts.slice(1) ?? [])] };
  return { root: 'store', segments: [start, ...rest], keys: ['store', name, ...parsed.path.keys.slice(2)] };
}

function wholeOf(segments: Path['segments']): string {
  return segments.map(({ literal }) => literal).join('/');
}

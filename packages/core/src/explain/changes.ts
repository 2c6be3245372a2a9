import { type Change, type Changes, difference, isObject, type Json, pointerTo, show } from '@dragoman/protocols';

export const NO_CHANGES: Changes = { dropped: [], changed: [], invented: [] };

/** Compares two messages of the same shape, member by member. */
export function changesBetween(before: Json, after: Json, why: (pointer: string) => string | undefined): Changes {
  const found = difference(before, after);
  const isGone = (value: Json | undefined) => value === undefined || leavesOf(value).length === 0;
  return {
    dropped: found
      .filter((one) => isGone(one.after))
      .map(({ pointer }) => ({ pointer, why: why(pointer) ?? 'it has no place there' })),
    changed: found.flatMap(({ pointer, after: value }) =>
      value === undefined || isGone(value) ? [] : [{ pointer, why: why(pointer) ?? `it is ${show(value)} now`, value }],
    ),
    invented: difference(after, before)
      .filter((one) => one.after === undefined)
      .flatMap(({ pointer }) => leavesAt(after, pointer))
      .map(({ pointer, value }) => ({ pointer, why: why(pointer) ?? DEFAULT, value })),
  };
}

/** Compares messages of different shapes by their values: a value that is nowhere in `from` is new in `to`. */
export function unsaidIn(to: Json, from: readonly Json[], why: (pointer: string) => string | undefined): Change[] {
  const known = new Set(from.flatMap((one) => leavesOf(one).map(({ value }) => value)));
  const texts = [...known].filter((value) => typeof value === 'string');
  const isKnown = (value: Json) =>
    known.has(value) || (typeof value === 'string' && texts.some((text) => text.includes(value)));
  return leavesOf(to)
    .filter(({ value }) => !isKnown(value))
    .map(({ pointer, value }) => ({ pointer, why: why(pointer) ?? DEFAULT, value }));
}

interface Leaf {
  readonly pointer: string;
  readonly value: Json;
}

/** Every leaf value that is neither null nor empty. */
function leavesOf(value: Json, pointer = ''): Leaf[] {
  if (value === null || value === '') return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, pointerTo(pointer, index)));
  if (!isObject(value)) return [{ pointer, value }];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, pointerTo(pointer, key)));
}

function leavesAt(whole: Json, pointer: string): Leaf[] {
  return leavesOf(whole).filter((leaf) => leaf.pointer === pointer || leaf.pointer.startsWith(`${pointer}/`));
}

const DEFAULT = "the protocol's default";

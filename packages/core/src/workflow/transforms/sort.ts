import type { Json } from '@dragoman/protocols';
import { type FieldReader, fieldReader } from '../field.ts';
import { arrayAt } from '../input.ts';
import type { Settings, Transform } from './transform.ts';

/**
 * Stable, by one field or several. Numbers come before texts, texts before true and false, and what is missing or null comes
 * last, whichever the order.
 */
export const compileSort: Transform = (settings, input) => {
  const keys = keysOf(settings);
  return (step) => {
    const items = arrayAt(step, input);
    step.boundedBy(step.bytesAt(input));
    const rows = items.map((item) => ({ item, values: keys.map(({ read }) => read(item)) }));
    rows.sort((one, other) => {
      for (const [at, { sign }] of keys.entries()) {
        const order = compared(one.values[at], other.values[at], sign);
        if (order !== 0) return order;
      }
      return 0;
    });
    return rows.map(({ item }) => item);
  };
};

interface Key {
  readonly read: FieldReader;
  readonly sign: number;
}

function keysOf({ field = '', fields, order = 'asc' }: Settings): readonly Key[] {
  const key = (name: string, direction: unknown): Key => ({
    read: fieldReader(name),
    sign: direction === 'desc' ? -1 : 1,
  });
  if (fields === undefined) return [key(field, order)];
  if (Array.isArray(fields)) return fields.map((name) => key(name, order));
  return Object.entries(fields).map(([name, direction]) => key(name, direction));
}

function compared(one: Json | undefined, other: Json | undefined, sign: number): number {
  const [rank, otherRank] = [rankOf(one), rankOf(other)];
  if (rank !== otherRank) return rank === LAST || otherRank === LAST ? rank - otherRank : sign * (rank - otherRank);
  if (rank >= OTHERS) return 0;
  return (one as number) < (other as number) ? -sign : (one as number) > (other as number) ? sign : 0;
}

function rankOf(value: Json | undefined): number {
  if (value === undefined || value === null) return LAST;
  return RANKS[typeof value] ?? OTHERS;
}

const RANKS: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2 };
const OTHERS = 3;
const LAST = 4;

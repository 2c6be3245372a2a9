import type { Json } from '@dragoman/protocols';
import { columnOf } from '../field.ts';
import { arrayAt } from '../input.ts';
import { sortedPlaces } from './sorted-places.ts';
import type { Transform, TransformSettings } from './transform.ts';

/**
 * Stable sort by one or several fields. Numbers come before texts, and texts before booleans; missing values and null
 * come last in either order.
 */
export const sort: Transform = {
  compile(settings, input) {
    const keys = keysOf(settings);
    return (step) => {
      const items = arrayAt(step, input);
      step.boundedBy(step.bytesAt(input));
      const [only] = keys;
      const few = items.length < FEW && keys.length === 1 && only !== undefined ? sortedFew(items, only) : undefined;
      if (few !== undefined) return few;
      let places = Uint32Array.from({ length: items.length }, (_, at) => at);
      // Stable sorts by each key, the least significant first, together sort by all keys.
      for (const { field, descending } of keys.toReversed()) {
        places = sortedPlaces(columnOf(items, field), places, descending);
      }
      const sorted = new Array<Json>(items.length);
      for (let at = 0; at < places.length; at++) sorted[at] = items[places[at] as number] as Json;
      return sorted;
    };
  },
};

/** Sorts a few items by a numeric field, without typed arrays. `undefined` if a value is not a number. */
function sortedFew(items: readonly Json[], { field, descending }: Key): Json[] | undefined {
  const column = columnOf(items, field);
  const places: number[] = [];
  for (let at = 0; at < column.length; at++) {
    if (typeof column[at] !== 'number') return undefined;
    places.push(at);
  }
  const sign = descending ? -1 : 1;
  places.sort((one, other) => sign * ((column[one] as number) - (column[other] as number)));
  return places.map((at) => items[at] as Json);
}

const FEW = 256;

interface Key {
  readonly field: string;
  readonly descending: boolean;
}

function keysOf({ field = '', fields, order = 'asc' }: TransformSettings): readonly Key[] {
  const key = (name: string, direction: unknown): Key => ({ field: name, descending: direction === 'desc' });
  if (fields === undefined) return [key(field, order)];
  if (Array.isArray(fields)) return fields.map((name) => key(name, order));
  return Object.entries(fields).map(([name, direction]) => key(name, direction));
}

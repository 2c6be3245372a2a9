import type { Json } from '@dragoman/protocols';
import { fieldReader } from '../field.ts';
import { arrayAt } from '../input.ts';
import { asText } from '../template.ts';
import type { Transform } from './transform.ts';

/** An object of arrays, by the text of each item's value, in the order the values first came; `unknown` without one. */
export const compileGroup: Transform = ({ field = '' }, input) => {
  const read = fieldReader(field);
  return (step) => {
    const items = arrayAt(step, input);
    // Each group's name is also in an item.
    step.boundedBy(step.bytesAt(input) * 2 + 16);
    const groups = new Map<Json | undefined, Json[]>();
    for (const item of items) {
      const value = read(item);
      const key = typeof value === 'object' && value !== null ? asText(value) : value;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
    return joined(groups);
  };
};

/** Values that differ may have the same text: 1 and "1", null and "null". */
function joined(groups: ReadonlyMap<Json | undefined, Json[]>): Json {
  const byName = new Map<string, Json[]>();
  for (const [value, items] of groups) {
    const name = value === undefined ? 'unknown' : asText(value);
    byName.set(name, [...(byName.get(name) ?? []), ...items]);
  }
  return Object.fromEntries(byName);
}

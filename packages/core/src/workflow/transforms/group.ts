import type { Json } from '@dragoman/protocols';
import { fieldReader, isPlainName, type Members } from '../field.ts';
import { arrayAt } from '../input.ts';
import { memoryOfMembers } from '../memory-need.ts';
import { asText } from '../template.ts';
import type { Transform } from './transform.ts';

/**
 * Groups items by the text of a field: an object of arrays, in the order of first appearance. Items without the field
 * are in `unknown`.
 */
export const group: Transform = {
  compile({ field = '' }, input) {
    const isPlain = isPlainName(field);
    const read = fieldReader(field);
    return (step) => {
      const items = arrayAt(step, input);
      // The names of the groups are in the items, too, so twice the input is enough.
      step.boundedBy(step.bytesAt(input) * 2 + 16);
      step.askMemory(memoryOfMembers(items.length));
      const groups = new Map<Json | undefined, Json[]>();
      for (let at = isPlain ? groupTexts(items, field, groups) : 0; at < items.length; at++) {
        const item = items[at] as Json;
        const value = read(item);
        put(groups, typeof value === 'object' && value !== null ? asText(value) : value, item);
      }
      return byName(groups, items, read);
    };
  },
};

/**
 * The fast path for the first items, as long as each has a text under a plain name. Returns the index of the first
 * other item.
 */
function groupTexts(items: readonly Json[], field: string, groups: Map<Json | undefined, Json[]>): number {
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as Json;
    if (typeof item !== 'object' || item === null) return at;
    const value = (item as Members)[field];
    if (typeof value !== 'string') return at;
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [item]);
    else group.push(item);
  }
  return items.length;
}

function put(groups: Map<Json | undefined, Json[]>, value: Json | undefined, item: Json): void {
  const group = groups.get(value);
  if (group === undefined) groups.set(value, [item]);
  else group.push(item);
}

function byName(
  groups: ReadonlyMap<Json | undefined, Json[]>,
  items: readonly Json[],
  read: (item: Json) => Json | undefined,
) {
  const named = new Map<string, Json[]>();
  for (const [value, group] of groups) named.set(nameOf(value), group);
  if (named.size === groups.size) return Object.fromEntries(named);
  // Different values have the same text, as 1 and "1" do: their items are joined in the order of the input.
  const joined = new Map<string, Json[]>([...named.keys()].map((name) => [name, []]));
  for (const item of items) joined.get(nameOf(read(item)))?.push(item);
  return Object.fromEntries(joined);
}

function nameOf(value: Json | undefined): string {
  return value === undefined ? 'unknown' : asText(value);
}

import type { Json, JsonObject } from '@dragoman/protocols';
import { fieldReader } from '../field.ts';
import { arrayAt } from '../input.ts';
import type { Transform } from './transform.ts';

/** Each item becomes an object of its renamed fields: `{ "full_name": "name" }`. What an item lacks is null. */
export const map: Transform = {
  compile({ fields = {} }, input) {
    const members = Object.entries(fields).map(([source, target]) => ({
      read: fieldReader(source),
      target: String(target),
    }));
    const blank: JsonObject = Object.fromEntries(members.map(({ target }) => [target, null]));
    const names = members.reduce((total, { target }) => total + target.length + 8, 2);
    return (step) => {
      const items = arrayAt(step, input);
      const bytes = step.bytesAt(input) * Math.max(1, members.length) + items.length * names;
      step.boundedBy(bytes);
      return items.map((item): Json => {
        // Every target is a member of the copy already: to set it never reaches a prototype.
        const mapped = { ...blank };
        for (const { read, target } of members) mapped[target] = read(item) ?? null;
        return mapped;
      });
    };
  },
};

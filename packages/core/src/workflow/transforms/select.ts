import { isObject, type Json } from '@dragoman/protocols';
import { formatPath } from '@dragoman/protocols/a2e-workflow';
import { fieldReader } from '../field.ts';
import { arrayAt, wrongShape } from '../input.ts';
import { dataError } from '../step-error.ts';
import type { Transform } from './transform.ts';

/**
 * With `fields`, keeps the listed fields of each item. With `field`, takes one value out of an object, or out of every
 * item.
 */
export const select: Transform = {
  compile({ field, fields }, input) {
    if (Array.isArray(fields)) {
      const members = fields.map((name) => ({ name, read: fieldReader(name) }));
      const names = fields.reduce((total, name) => total + name.length + 4, 2);
      return (step) => {
        const items = arrayAt(step, input);
        step.boundedBy(step.bytesAt(input) * Math.max(1, members.length) + items.length * names);
        return items.map((item): Json => {
          const kept: [string, Json][] = [];
          for (const { name, read } of members) {
            const value = read(item);
            if (value !== undefined) kept.push([name, value]);
          }
          return Object.fromEntries(kept);
        });
      };
    }
    const name = field ?? '';
    const read = fieldReader(name);
    return (step) => {
      const value = step.read(input);
      step.boundedBy(step.bytesAt(input) + 8);
      if (Array.isArray(value)) {
        const own = read(value);
        return own === undefined ? value.map((item) => read(item) ?? null) : own;
      }
      if (typeof value !== 'object' || value === null)
        throw wrongShape(input, 'an object or an array', value, isObject);
      const found = read(value);
      if (found === undefined) {
        const has = Object.keys(value).slice(0, 6).join(', ');
        throw dataError(`${formatPath(input)} has no ${name}`, { suggestions: [`it has ${has || 'no members'}`] });
      }
      return found;
    };
  },
};

import type { Json } from '@dragoman/protocols';

/** Reads one field of an item; `undefined` when it has none. */
export type FieldReader = (item: Json | undefined) => Json | undefined;

/** A value that has members by name. */
export type Members = Readonly<Record<string, Json | undefined>>;

/**
 * The reader of `status`, `address.city` or `lines[0].price`. A name is first tried as one key, as it is written, then
 * step by step. Only own members count, and `length` is not one.
 */
export function fieldReader(field: string): FieldReader {
  const steps = field.split(/[./[\]]+/).filter((step) => step !== '');
  const whole = memberReader(field);
  if (steps.length <= 1) return whole;
  const readers = steps.map(memberReader);
  return (item) => {
    const literal = whole(item);
    if (literal !== undefined) return literal;
    let value: Json | undefined = item;
    for (const read of readers) {
      value = read(value);
      if (value === undefined) return undefined;
    }
    return value;
  };
}

/**
 * Whether a field is one plain name that nothing inherits, so that `item[name]` is all there is to reading it: loops over
 * many items write that out, for a call for each item would cost more than the rest.
 */
export function isPlainName(field: string): boolean {
  return PLAIN.test(field) && !INHERITED.some((prototype) => field in prototype);
}

/** The field of every item. */
export function columnOf(items: readonly Json[], field: string): (Json | undefined)[] {
  const column = new Array<Json | undefined>(items.length);
  if (!isPlainName(field)) {
    const read = fieldReader(field);
    for (let at = 0; at < items.length; at++) column[at] = read(items[at]);
    return column;
  }
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    column[at] = typeof item === 'object' && item !== null ? (item as Members)[field] : undefined;
  }
  return column;
}

/** A member by its key, of an object or, by its index, of an array. */
function memberReader(name: string): FieldReader {
  if (isPlainName(name)) {
    return (item) => (typeof item === 'object' && item !== null ? (item as Members)[name] : undefined);
  }
  return (item) => (isOwn(item, name) ? (item as Members)[name] : undefined);
}

function isOwn(item: Json | undefined, name: string): boolean {
  if (typeof item !== 'object' || item === null || !Object.hasOwn(item, name)) return false;
  return !Array.isArray(item) || name !== 'length';
}

/** Every array has `length` as its own. */
const INHERITED: readonly object[] = [Object.prototype, Array.prototype, []];
const PLAIN = /^[A-Za-z_$][\w$-]*$/;

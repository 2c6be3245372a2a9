import type { Json } from '@dragoman/protocols';

/** Reads one field of an item; `undefined` when the item lacks it. */
export type FieldReader = (item: Json | undefined) => Json | undefined;

/** A value that has members by name. */
export type Members = Readonly<Record<string, Json | undefined>>;

/**
 * Compiles `status`, `address.city` or `lines[0].price`. A name is tried as one literal key first, then step by step.
 * Only own members count, and not the `length` of arrays.
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
 * Whether a field is one plain name that is not inherited, so that `item[name]` reads it. Loops over many items then
 * inline that access, because a call for each item would dominate their cost.
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

/** Reads a member of an object by its key, or of an array by its index. */
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

/** The empty array stands for `length`, which every array has as its own. */
const INHERITED: readonly object[] = [Object.prototype, Array.prototype, []];
const PLAIN = /^[A-Za-z_$][\w$-]*$/;

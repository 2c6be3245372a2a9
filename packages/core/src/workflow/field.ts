import type { Json } from '@dragoman/protocols';

/** Reads one field of an item; `undefined` when it has none. */
export type FieldReader = (item: Json | undefined) => Json | undefined;

/**
 * The reader of `status`, `address.city` or `lines[0].price`. A name is first tried as one key, as it is written, then
 * step by step. Only own members count, and `length` is none.
 */
export function fieldReader(field: string): FieldReader {
  const steps = stepsOf(field);
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

/** Splits a field name at dots, slashes and brackets. */
function stepsOf(field: string): readonly string[] {
  return field.split(/[./[\]]+/).filter((step) => step !== '');
}

/** A member by its key, of an object or, by its index, of an array. */
function memberReader(name: string): FieldReader {
  // A name that every object, array or text inherits has to be looked for among the own members; for the others that
  // would only be slower.
  if (INHERITED.some((prototype) => name in prototype) || FORBIDDEN_INDEX.test(name)) {
    return (item) => (isOwn(item, name) ? (item as Readonly<Record<string, Json>>)[name] : undefined);
  }
  return (item) =>
    typeof item === 'object' && item !== null ? (item as Readonly<Record<string, Json>>)[name] : undefined;
}

function isOwn(item: Json | undefined, name: string): boolean {
  if (typeof item !== 'object' || item === null || !Object.hasOwn(item, name)) return false;
  return !Array.isArray(item) || name !== 'length';
}

const INHERITED: readonly object[] = [Object.prototype, Array.prototype];

/** Nothing is hidden behind a number with a sign or a point. */
const FORBIDDEN_INDEX = /^[-+]/;

import { isObject, type Json } from './json.ts';
import { pointerTo } from './pointer.ts';

/** One place of `before` that is missing or different in `after`. */
export interface Difference {
  readonly pointer: string;
  /** `undefined`: the place no longer exists. */
  readonly after: Json | undefined;
}

/** Every value of `before` that `after` lacks. Null and empty values cannot be lost. */
export function difference(before: Json, after: Json | undefined, pointer = ''): Difference[] {
  if (isNothing(before)) return [];
  if (after === undefined || after === null) return [{ pointer, after: undefined }];
  if (Array.isArray(before) && Array.isArray(after)) {
    return before.flatMap((item, index) => difference(item, after[index], pointerTo(pointer, index)));
  }
  if (isObject(before) && isObject(after)) {
    return Object.entries(before).flatMap(([key, member]) => {
      const other = Object.hasOwn(after, key) ? after[key] : undefined;
      return difference(member, other, pointerTo(pointer, key));
    });
  }
  return before === after ? [] : [{ pointer, after }];
}

function isNothing(value: Json): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.values(value).every(isNothing);
}

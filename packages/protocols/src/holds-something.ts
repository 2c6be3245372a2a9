/** Whether a value says anything, and so could be lost: null, false, an empty text and what is empty do not. */
export function holdsSomething(value: unknown): boolean {
  return value !== undefined && value !== false && value !== '' && !isEmpty(value);
}

/** Null, and a list or object with nothing in it. An empty text and `false` are values. */
export function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Whether a value carries information that could be lost: null, false and empty values do not. */
export function holdsSomething(value: unknown): boolean {
  return value !== undefined && value !== false && value !== '' && !isEmpty(value);
}

/** Whether a value is null or an empty list or object. Empty strings and `false` are values. */
export function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

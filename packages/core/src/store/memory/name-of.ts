/** One string for several, such that no two lists give the same. */
export function nameOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

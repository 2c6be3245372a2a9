/**
 * The cursor of the page after the execution with this number. The list contains only the owner's executions, so a
 * cursor needs no secret.
 */
export function cursorAfter(number: number): string {
  return String(number);
}

/** The number of the execution that a cursor names; `undefined` for text that is not a cursor. */
export function numberInCursor(cursor: string): number | undefined {
  const number = /^[1-9]\d{0,15}$/.test(cursor) ? Number(cursor) : 0;
  return number > 0 && Number.isSafeInteger(number) ? number : undefined;
}

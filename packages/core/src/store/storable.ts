/** Refuses text that a database would cut off or refuse itself. JSON text never has it: it writes `\u0000`. */
export function requireStorable(...texts: readonly (string | null)[]): void {
  if (texts.some((text) => text?.includes('\0'))) throw new Error('text with a NUL character cannot be stored');
}

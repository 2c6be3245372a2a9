/** So many bytes of chance, as hex. Not `randomUUID`: a page that was not loaded over TLS does not have it. */
export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A new id for a request. It is made here, before anything is sent, so that a repeat of the request is known as one. */
export function newRequestId(): string {
  // Not `randomUUID`: a page that was not loaded over TLS does not have it.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `req_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

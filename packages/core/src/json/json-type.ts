/** Whether a content type says that it is JSON (RFC 6838 §4.2.8: also by its suffix). */
export function isJsonType(contentType: string): boolean {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json');
}

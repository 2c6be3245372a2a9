import { isObject, type Json } from '../json.ts';
import type { MessagePart } from './shapes.ts';

/** A file of E2A §5 as a part: the bytes of a `data:` URL, any other URL unchanged. `undefined` if it is not a file. */
export function filePart(file: Json): MessagePart | undefined {
  if (!isObject(file) || !isText(file['uri'])) return undefined;
  const { uri, name } = file;
  const mime = file['mime_type'] ?? file['mimeType'];
  const about = { ...(isText(name) && { filename: name }), ...(isText(mime) && { mediaType: mime }) };
  const [, inlineMime = '', raw] = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(uri) ?? [];
  if (raw === undefined) return { url: uri, ...about };
  return { raw, ...(inlineMime !== '' && { mediaType: inlineMime }), ...about };
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

/**
 * FNV-1a, 32 bits, as eight hex digits: always the same for the same text, so that a repeated frame is the same
 * message. It is not secure. `start` selects another hash of the same quality.
 */
export function fnv1a(text: string, start = OFFSET_BASIS): string {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

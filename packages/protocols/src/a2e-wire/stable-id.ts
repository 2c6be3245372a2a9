import type { E2AResponse } from '../e2a/response.ts';

/** The id of the message a frame becomes: the same frame always becomes the same message. 32 hex digits. */
export function stableId({ response_id, request_id, sequence }: E2AResponse): string {
  const plain = response_id?.replaceAll('-', '').toLowerCase() ?? '';
  return HEX_ID.test(plain) ? plain : hash(`${response_id ?? ''}\n${request_id ?? ''}\n${sequence}`);
}

/** FNV-1a from four starting points. It only has to tell frames apart; nothing is secured by it. */
function hash(text: string): string {
  return STARTS.map((start) => {
    let value = start;
    for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
    return (value >>> 0).toString(16).padStart(8, '0');
  }).join('');
}

const HEX_ID = /^[0-9a-f]{32}$/;
const STARTS = [0x811c9dc5, 0x01234567, 0x89abcdef, 0x2545f491];

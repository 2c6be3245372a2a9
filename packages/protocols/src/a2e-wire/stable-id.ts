import type { E2AResponse } from '../e2a/response.ts';
import { fnv1a } from '../fnv.ts';

/** The message id for a frame, 32 hex digits; the same frame always gives the same id. */
export function stableId({ response_id, request_id, sequence }: E2AResponse): string {
  const plain = response_id?.replaceAll('-', '').toLowerCase() ?? '';
  return HEX_ID.test(plain) ? plain : hash(`${response_id ?? ''}\n${request_id ?? ''}\n${sequence}`);
}

/** Four hashes with different starting values make the 32 digits of a wire id. */
function hash(text: string): string {
  return STARTS.map((start) => fnv1a(text, start)).join('');
}

const HEX_ID = /^[0-9a-f]{32}$/;
const STARTS = [0x811c9dc5, 0x01234567, 0x89abcdef, 0x2545f491];

import type { Json } from '@dragoman/protocols';
import { cutTo } from '../text/cut-to.ts';
import { isLargerThan } from './plain-json.ts';

/** What one result may say: the beginning of what is longer, of a text itself, of anything else its JSON. */
export function inLength(data: Json, limit = MAX_RESULT): { readonly data: Json; readonly truncated: boolean } {
  if (!isLargerThan(data, limit)) return { data, truncated: false };
  return { data: cutTo(typeof data === 'string' ? data : JSON.stringify(data), limit), truncated: true };
}

/** Characters of JSON. */
export const MAX_RESULT = 1024 * 1024;

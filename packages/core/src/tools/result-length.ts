import type { Json } from '@dragoman/protocols';
import { cutTo } from '../cut-to.ts';
import { isLargerThan } from './plain-json.ts';

/** What one result may say: the beginning of what is longer, of a text itself, of anything else its JSON. */
export function inLength(data: Json, limit = MAX_RESULT): { readonly data: Json; readonly truncated: boolean } {
  if (!isLargerThan(data, limit)) return { data, truncated: false };
  return { data: cutTo(typeof data === 'string' ? data : beginningOf(data, limit), limit), truncated: true };
}

/** JSON that begins with the first `limit` characters of the value's. Little more is written: a result may be far longer. */
function beginningOf(value: Json, limit: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, limit));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = '';
  const add = (name: string, item: Json) => {
    text += `${text === '' ? '' : ','}${name}`;
    text += beginningOf(item, Math.max(0, limit - text.length));
    return text.length < limit;
  };
  if (Array.isArray(value)) {
    value.every((item) => add('', item));
    return `[${text}]`;
  }
  for (const key in value) if (!add(`${JSON.stringify(key)}:`, value[key] as Json)) break;
  return `{${text}}`;
}

/** Characters of JSON. */
export const MAX_RESULT = 1024 * 1024;

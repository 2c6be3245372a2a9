import { isObject, type Json } from '../../json.ts';

/** The text in an agent's result: the result itself, or the member agents put it in. */
export function textOfResult(result: Json | undefined): string | undefined {
  if (typeof result === 'string') return result;
  if (!isObject(result)) return undefined;
  const text = ['content', 'text', 'output'].map((name) => result[name]).find((value) => typeof value === 'string');
  return typeof text === 'string' && text !== '' ? text : undefined;
}

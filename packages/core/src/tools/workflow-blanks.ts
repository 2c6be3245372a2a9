import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { asText } from '../workflow/template.ts';
import { urlPart } from './url-part.ts';

/** A place in a workflow that an argument fills. */
export interface Blank {
  readonly name: string;
  /** Whether it occurs within a longer text. Then its argument must be a string, number or boolean. */
  readonly isText: boolean;
}

/** Every `{{name}}` in the values, each once, in order of appearance. */
export function blanksIn(value: Json): Blank[] {
  const found = new Map<string, boolean>();
  for (const text of textsIn(value)) {
    for (const [whole, name = ''] of text.matchAll(BLANK)) {
      found.set(name, (found.get(name) ?? false) || whole !== text);
    }
  }
  return [...found].map(([name, isText]) => ({ name, isText }));
}

/**
 * Fills the blanks. A blank that is a whole text becomes the argument, of any type; one within a text becomes text,
 * escaped if the text is a URL. Names of members are never changed.
 */
export function filled(value: Json, args: JsonObject): Json {
  return fill(value, args, false);
}

function fill(value: Json, args: JsonObject, isUrl: boolean): Json {
  if (typeof value === 'string') return fillText(value, args, isUrl);
  if (Array.isArray(value)) return value.map((item) => fill(item, args, isUrl));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member, args, name === 'url')]));
}

function fillText(text: string, args: JsonObject, isUrl: boolean): Json {
  const [whole, name] = ONLY_BLANK.exec(text) ?? [];
  if (whole !== undefined && name !== undefined && !isUrl) return argument(args, name);
  return text.replaceAll(BLANK, (_, inner: string) => {
    const value = argument(args, inner);
    return isUrl ? urlPart(inner, value) : asText(value);
  });
}

function argument(args: JsonObject, name: string): Json {
  return (Object.hasOwn(args, name) ? args[name] : undefined) ?? null;
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const BLANK = /\{\{([\w-]{1,64})\}\}/g;
const ONLY_BLANK = /^\{\{([\w-]{1,64})\}\}$/;

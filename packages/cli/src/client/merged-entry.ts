import { isObject, type Json, type JsonObject } from '@dragoman/protocols';

/** The new entry, with what a user added to the old one, such as its environment. An entry for a URL is replaced. */
export function mergedEntry(old: Json | undefined, entry: JsonObject): JsonObject {
  const isCommand = isObject(old) && ['command', 'cmd'].some((member) => Object.hasOwn(old, member));
  return isCommand ? { ...old, ...entry } : entry;
}

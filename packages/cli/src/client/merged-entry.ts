import { isObject, type Json, type JsonObject } from '@dragoman/protocols';

/**
 * The new entry, with the members that a user added to the old one, such as an environment. An old entry with a URL is
 * replaced.
 */
export function mergedEntry(old: Json | undefined, entry: JsonObject): JsonObject {
  const isCommand = isObject(old) && ['command', 'cmd'].some((member) => Object.hasOwn(old, member));
  return isCommand ? { ...old, ...entry } : entry;
}

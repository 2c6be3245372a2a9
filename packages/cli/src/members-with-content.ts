import { isObject, type Json } from '@dragoman/protocols';

/** The members of an envelope without the empty ones. */
export function membersWithContent(envelope: Json): Json {
  if (!isObject(envelope)) return envelope;
  return Object.fromEntries(Object.entries(envelope).filter(([, member]) => !isNothing(member)));
}

function isNothing(value: Json): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

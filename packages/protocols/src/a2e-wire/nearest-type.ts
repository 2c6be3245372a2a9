import { nearest } from '../nearest.ts';
import { KNOWN_TYPES, lookup } from './type-map.ts';

/** The known type, of the protocol or of plugins, that an unknown one probably means. */
export function nearestType(type: string, ownTypes: Iterable<string> = []): string | undefined {
  if (lookup(type) !== undefined) return undefined;
  const own = [...ownTypes];
  // The most common mistake is a wrong `/req` ending: some types have it, others do not.
  const asRequest = type.endsWith('/req') ? type.slice(0, -'/req'.length) : `${type}/req`;
  if (lookup(asRequest) !== undefined || own.includes(asRequest)) return asRequest;
  // A typing error neither adds a word nor changes the length by much.
  const words = type.split('/').length;
  const alike = [...KNOWN_TYPES.map((row) => row.type), ...own].filter(
    (known) => Math.abs(known.length - type.length) <= 2 && known.split('/').length === words,
  );
  return nearest(type, alike);
}

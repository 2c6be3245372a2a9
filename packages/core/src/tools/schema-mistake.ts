import { isObject, type JsonObject, nearest, pointerTo, show } from '@dragoman/protocols';

/**
 * The common mistakes in a schema: an unknown type, and a `required` that is not a list of names. They are reported
 * when the tool is defined; all others at the first call, when the schema is compiled.
 */
export function schemaMistake(schema: unknown, pointer = ''): string | undefined {
  if (!isObject(schema)) return undefined;
  const { type, required } = schema;
  const unknown = [type ?? []].flat().find((one) => !TYPES.includes(one as string));
  if (unknown !== undefined) {
    const close = typeof unknown === 'string' ? nearest(unknown, TYPES) : undefined;
    const meant = close === undefined ? '' : `; did you mean "${close}"?`;
    return `${pointerTo(pointer, 'type')} must be ${TYPES.join(', ')} or a list of them; got ${show(unknown)}${meant}`;
  }
  const isNames = Array.isArray(required) && required.every((name) => typeof name === 'string');
  if (required !== undefined && !isNames) {
    return `${pointerTo(pointer, 'required')} must be a list of names, beside properties; got ${show(required)}`;
  }
  return partsOf(schema)
    .map(([path, part]) => schemaMistake(part, pointerTo(pointer, ...path)))
    .find((mistake) => mistake !== undefined);
}

/** The schemas inside a schema, by their paths. */
function partsOf(schema: JsonObject): [string[], unknown][] {
  const single = SINGLE.map((keyword): [string[], unknown] => [[keyword], schema[keyword]]);
  const named = NAMED.filter((keyword) => isObject(schema[keyword]));
  const listed = LISTED.filter((keyword) => Array.isArray(schema[keyword]));
  const many = [...named, ...listed].flatMap((keyword) =>
    Object.entries(schema[keyword] as object).map(([name, part]): [string[], unknown] => [[keyword, name], part]),
  );
  return [...single, ...many];
}

const TYPES: readonly string[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const SINGLE = ['items', 'additionalProperties', 'not'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'];
const LISTED = ['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf'];

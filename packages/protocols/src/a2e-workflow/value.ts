import { isObject, type Json } from '../json.ts';
import type { Static, Typed } from '../static.ts';

/** Ids of operations and executions (A2E workflow, JSONL Structure). */
export const Id = { type: 'string', pattern: '^[a-zA-Z0-9_-]+$', maxLength: 100 } as const;

/** A data-model path: the grammar of `parsePath` as a pattern. */
export const PathText = { type: 'string', pattern: pathPattern('workflow|store|loop'), maxLength: 512 } as const;

/** Results are written below `/workflow` only: `/store` and `/loop` belong to StoreData and Loop. */
export const OutputPathText = { type: 'string', pattern: pathPattern('workflow'), maxLength: 512 } as const;

/** The name of a field inside the data, `address.city`. */
export const FieldText = {
  type: 'string',
  pattern: '^(?!(.*[/.[\\]])?(__proto__|constructor|prototype)([/.[\\]]|$)).',
  maxLength: 512,
} as const;

/** A root, then up to 32 steps: `/name`, `.name`, `[index]` or `/[index]`, none through a prototype. */
function pathPattern(roots: string) {
  const safe = '(?!.*[/.](__proto__|constructor|prototype)([/.[]|$))';
  const index = '\\[(\\d{1,5}|100000)\\]';
  const name = '[^./[\\]{}\\u0000-\\u001f\\u007f]+';
  return `^${safe}/(${roots})(?=/)(/?${index}|[/.]${name}){1,32}$` as const;
}

/** `{"path": "/workflow/x"}`: the value at that path. */
export const PathReference = {
  type: 'object',
  required: ['path'],
  properties: { path: PathText },
  additionalProperties: false,
} as const;
export type PathReference = Static<typeof PathReference>;

/** `{"credentialRef": {"id": "x"}}`: a secret that the vault inserts into the outbound request. */
export const CredentialReference = {
  type: 'object',
  required: ['credentialRef'],
  properties: {
    credentialRef: { type: 'object', required: ['id'], properties: { id: Id }, additionalProperties: false },
  },
  additionalProperties: false,
} as const;
export type CredentialReference = Static<typeof CredentialReference>;

/** A header or query value. One flat shape instead of `anyOf`, so that each problem is reported once. */
const reference = {
  minProperties: 1,
  maxProperties: 1,
  properties: { ...PathReference.properties, ...CredentialReference.properties },
  additionalProperties: false,
} as const;

export const HeaderValue = { type: ['string', 'object'], ...reference } as unknown as Typed<
  string | PathReference | CredentialReference
>;
export const QueryValue = { type: ['string', 'number', 'boolean', 'object'], ...reference } as unknown as Typed<
  string | number | boolean | PathReference | CredentialReference
>;

/** A number, or the number at a path. */
export const NumberOrPath = {
  type: ['number', 'object'],
  required: PathReference.required,
  properties: PathReference.properties,
  additionalProperties: false,
} as unknown as Typed<number | PathReference>;

/** Whether a free JSON value is a reference: an object with only a valid `path`. */
export function isPathReference(value: Json | undefined): value is PathReference {
  return (
    isObject(value) &&
    typeof value['path'] === 'string' &&
    REFERENCE_START.test(value['path']) &&
    Object.keys(value).length === 1
  );
}

const REFERENCE_START = /^\/(?:workflow|store|loop)\//;

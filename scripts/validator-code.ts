import { _, Ajv, type AnySchema } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { formats, UTC_DATE_TIME } from '../packages/protocols/src/formats.ts';
import { pattern } from '../packages/protocols/src/pattern.ts';
import type { SchemaSet } from '../packages/protocols/src/schema.ts';
import { MOST_PROBLEMS } from '../packages/protocols/src/validation.ts';

/** A module, in the folder of the packages, that exports a validator for each schema of the set. */
export function validatorCode(set: SchemaSet): string {
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    // We word problems ourselves.
    messages: false,
    // Both complain about halves of an `allOf`, which is how the A2A files say "a base message that…".
    strictRequired: false,
    strictTypes: false,
    unicodeRegExp: false,
    formats: { ...formats },
    code: {
      source: true,
      lines: true,
      formats: _`formats`,
      regExp: Object.assign((source: string, flags: string) => pattern(source, flags), { code: 'pattern' }),
    },
  });
  for (const schema of Object.values(set.schemas)) ajv.addSchema(together(schema) as AnySchema);
  const ids = Object.entries(set.schemas).map(([name, schema]) => [name, String(schema['$id'])]);
  const code = (standalone as unknown as { default: typeof standalone.default }).default(ajv, Object.fromEntries(ids));
  return asModule(cheaper(shorter(code)));
}

/** The schema with `UTC_DATE_TIME`'s two checks combined into one. */
function together(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(together);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).map(([key, member]) => [key, together(member)]);
  const { pattern: form, ...rest } = Object.fromEntries(members) as Record<string, unknown>;
  const isBoth = form === UTC_DATE_TIME.pattern && rest['format'] === UTC_DATE_TIME.format;
  return isBoth ? { ...rest, format: UTC_DATE_TIME.together } : Object.fromEntries(members);
}

/**
 * Writes the error object that Ajv repeats for each error once, in `found`. Of the context that one validator passes to
 * another, only the path is used.
 */
function shorter(code: string): string {
  const short = code
    .replaceAll(NEW_ERROR, (_all, _name, isReported, path = 'instancePath', ...[schemaPath, keyword, params]) =>
      isReported
        ? `vErrors = found(vErrors, ${path}, ${schemaPath}, ${keyword}, ${params});\n`
        : 'vErrors = found(vErrors);\n',
    )
    .replaceAll('{instancePath="", parentData, parentDataProperty, rootData=data}={}', 'instancePath=""')
    .replaceAll('{instancePath,parentData,parentDataProperty,rootData}', 'instancePath');
  if (/vErrors\.push|parentData/.test(short))
    throw new Error('Ajv writes something else than it did: look at its code');
  return short;
}

/**
 * JSON Schema counts characters, which takes a walk over the string; the length in UTF-16 units, which is there for
 * free, nearly always decides: there are at most as many characters as units, and at least half as many.
 */
function cheaper(code: string): string {
  return code
    .replaceAll(/(func\d+\((\w+)\)) > (\d+)/g, '$2.length > $3 && $1 > $3')
    .replaceAll(
      /(func\d+\((\w+)\)) < (\d+)/g,
      (_, count, text, limit) => `${text}.length < ${2 * limit} && ${count} < ${limit}`,
    );
}

/**
 * A module instead of CommonJS, which is a function around everything: the engine would read all of it twice before it runs,
 * and nothing could be left out that is not used.
 */
function asModule(code: string): string {
  return `
    import { formats } from './protocols/src/formats.ts';
    import { pattern } from './protocols/src/pattern.ts';
    ${FOUND}
    ${code.replaceAll(/^exports\.(\w+) = (\w+);$/gm, 'export { $2 as $1 };')}`;
}

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const ERROR = String.raw`instancePath(?::(.+))?,schemaPath:(${TEXT}),keyword:(${TEXT}),params:(\{.*\})`;
/** Errors below a `not` are never reported, and it has no members. */
const NEW_ERROR = new RegExp(
  String.raw`const (err\d+) = \{(${ERROR})?\};\n` +
    String.raw`if\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}\n`,
  'g',
);

/** Ajv collects every error it finds, a million if a caller likes; after a hundred ours only counts. */
const FOUND = `
  function found(errors, instancePath, schemaPath, keyword, params) {
    if (errors === null) return [{ instancePath, schemaPath, keyword, params }];
    if (errors.length < ${MOST_PROBLEMS}) errors.push({ instancePath, schemaPath, keyword, params });
    return errors;
  }`;

import type { JsonSchema, Validator } from '@dragoman/protocols';
import { Ajv, type AnySchema } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { RegExpLike } from 'ajv/dist/types/index.js';
import { linearPattern } from '../linear-pattern.ts';

/** A schema that is only known when running, as two validators. */
export interface CompiledSchema {
  /** Stops at the first problem. */
  readonly first: Validator;
  /** Finds every problem; made when it is first needed. */
  readonly all: () => Validator;
}

export function compileSchema(schema: JsonSchema): CompiledSchema {
  const first = compiled(schema, false);
  let all: Validator | undefined;
  return {
    first,
    all: () => {
      all ??= compiled(schema, true);
      return all;
    },
  };
}

/** Each with an instance of its own: schemas of strangers may share an `$id`. */
function compiled(schema: JsonSchema, allErrors: boolean): Validator {
  const options = {
    allErrors,
    strict: false,
    messages: false,
    // JSON Schema, 7.2.1: without the vocabulary that asserts it, a format is a remark.
    validateFormats: false,
    logger: false,
    ownProperties: true,
    code: { regExp: Object.assign(tested, { code: 'tested' }) },
  } as const;
  const isNew = String(schema['$schema'] ?? '').includes('2020-12');
  const ajv = isNew ? new Ajv2020(options) : new Ajv(options);
  return ajv.compile(schema as AnySchema) as unknown as Validator;
}

/** An agent writes the text, and perhaps a foreign server the pattern. */
function tested(pattern: string): RegExpLike {
  const expression = linearPattern(pattern);
  return { test: (text: string) => expression.matcher(text).find() };
}

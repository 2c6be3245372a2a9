import type { JsonSchema, Validator } from '@dragoman/protocols';
import { Ajv, type AnySchema } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
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
  const { Compiler, ours } = dialectOf(schema);
  const ajv = new Compiler(options);
  try {
    return ajv.compile(ours as AnySchema) as unknown as Validator;
  } catch (error) {
    const [fault] = ajv.errors ?? [];
    const reason =
      fault === undefined || fault === null ? (error as Error).message : `${fault.instancePath} is not valid`;
    throw new Error(`it cannot be used as a JSON Schema here: ${reason}`);
  }
}

/** What compiles it, and the schema as that wants it. One that does not say which draft it is of has the keywords of one. */
function dialectOf(schema: JsonSchema): { Compiler: typeof Ajv | typeof Ajv2019 | typeof Ajv2020; ours: JsonSchema } {
  const { $schema, ...rest } = schema;
  const named = typeof $schema === 'string' ? $schema : '';
  if (named.includes('2020-12')) return { Compiler: Ajv2020, ours: schema };
  if (named.includes('2019-09')) return { Compiler: Ajv2019, ours: schema };
  if ($schema === undefined) return { Compiler: NEWER.test(JSON.stringify(schema)) ? Ajv2020 : Ajv, ours: schema };
  // What the older drafts have in common is draft 7, under whichever of their addresses.
  return { Compiler: Ajv, ours: OLDER.test(named) ? rest : schema };
}

/** An agent writes the text, and perhaps a foreign server the pattern. */
function tested(pattern: string): RegExpLike {
  const expression = linearPattern(pattern);
  return { test: (text: string) => expression.matcher(text).find() };
}

const OLDER = /^https?:\/\/json-schema\.org\/draft-0[467]\/schema#?$/;
/** Keywords that draft 7 does not have. */
const NEWER =
  /"(?:prefixItems|unevaluatedItems|unevaluatedProperties|dependentRequired|dependentSchemas|\$dynamicRef)":/;

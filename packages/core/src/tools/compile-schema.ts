import { createRequire } from 'node:module';
import type { Json, JsonSchema, Validator } from '@dragoman/protocols';
import type { Ajv, AnySchema, CodeKeywordDefinition, KeywordCxt, SchemaValidateFunction } from 'ajv';
import type { Ajv2019 } from 'ajv/dist/2019.js';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { RegExpLike } from 'ajv/dist/types/index.js';
import { identity } from '../equality.ts';
import { linearPattern, writtenOut } from '../linear-pattern.ts';
import { Effort, TooMuchEffort } from './effort.ts';

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
      all ??= whereItIsWorthIt(compiled(schema, true), first);
      return all;
    },
  };
}

/** Every problem, or the first one where to find all is too much: a choice among forms that hold each other doubles at each level. */
function whereItIsWorthIt(all: Validator, first: Validator): Validator {
  const validate: Validator = (value) => {
    let asked = all;
    try {
      return all(value);
    } catch (error) {
      if (!(error instanceof TooMuchEffort)) throw error;
      asked = first;
      return first(value);
    } finally {
      validate.errors = asked.errors ?? null;
      asked.errors = null;
    }
  };
  return validate;
}

/** Each with an instance of its own: schemas of strangers may share an `$id`. */
function compiled(schema: JsonSchema, allErrors: boolean): Validator {
  const effort = new Effort();
  const options = {
    allErrors,
    strict: false,
    messages: false,
    // JSON Schema, 7.2.1: without the vocabulary that asserts it, a format is a remark.
    validateFormats: false,
    logger: false,
    ownProperties: true,
    // Written out wherever it is named, a part of some kilobytes that is named a thousand times takes minutes to compile.
    inlineRefs: false,
    code: {
      // Looks through what was written again at each level of it, for code that runs no faster.
      optimize: false,
      regExp: Object.assign((pattern: string) => tested(pattern, effort), { code: 'tested' }),
    },
  } as const;
  const { Compiler, ours } = dialectOf(schema);
  const ajv = new Compiler(options);
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: areUnique });
  countLooks(ajv, effort);
  try {
    return effort.boundTo(ajv.compile(ours as AnySchema) as unknown as Validator);
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
  if (named.includes('2020-12')) return { Compiler: compilers.draft2020(), ours: schema };
  if (named.includes('2019-09')) return { Compiler: compilers.draft2019(), ours: schema };
  if ($schema === undefined) {
    const isNewer = NEWER.test(JSON.stringify(schema));
    return { Compiler: isNewer ? compilers.draft2020() : compilers.draft7(), ours: schema };
  }
  // What the older drafts have in common is draft 7, under whichever of their addresses.
  return { Compiler: compilers.draft7(), ours: OLDER.test(named) ? rest : schema };
}

/** An agent writes the text, and perhaps a foreign server the pattern. */
function tested(pattern: string, effort: Effort): RegExpLike {
  const parts = writtenOut(pattern);
  effort.prepare(parts);
  const expression = linearPattern(pattern);
  return {
    test: (text: string) => {
      effort.read(text, parts);
      return expression.matcher(text).find();
    },
  };
}

/**
 * Has each look at a value counted that a schema can multiply: `$ref` may lead round and round, or to twice as many of its kind
 * each time, and a choice looks at the same value once for each of its forms.
 */
function countLooks(ajv: Ajv, effort: Effort): void {
  const { _ } = load('ajv') as typeof import('ajv');
  for (const keyword of MULTIPLYING) {
    const rule = ajv.RULES.all[keyword];
    if (typeof rule !== 'object' || !('code' in rule.definition)) continue;
    const { definition } = rule;
    const write = definition.code as CodeKeywordDefinition['code'];
    rule.definition = {
      ...definition,
      code(context: KeywordCxt, type?: string) {
        const look = context.gen.scopeValue('func', { ref: effort.look });
        const forms: unknown = context.schema;
        context.gen.code(_`${look}(${Array.isArray(forms) ? forms.length : 1})`);
        write.call(this, context, type);
      },
    } as typeof definition;
  }
}

/**
 * Each item is looked at once. The library compares each with each unless the schema says that they are texts or numbers, and an
 * agent sends as many as fit into a message: nobody would be heard for hours.
 */
const areUnique: SchemaValidateFunction = (isAsked: boolean, items: readonly Json[]): boolean => {
  if (!isAsked) return true;
  const places = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const name = identity(item);
    const j = places.get(name);
    if (j !== undefined) {
      areUnique.errors = [{ keyword: 'uniqueItems', params: { i, j } }];
      return false;
    }
    places.set(name, i);
  }
  return true;
};

const load = createRequire(import.meta.url);
/**
 * Each loaded with the first schema of its draft, because it takes a tenth of a second and ten megabytes. And at once: whoever
 * waited for it would be overtaken by those who need not.
 */
const compilers = {
  draft7: (): typeof Ajv => load('ajv').Ajv,
  draft2019: (): typeof Ajv2019 => load('ajv/dist/2019.js').Ajv2019,
  draft2020: (): typeof Ajv2020 => load('ajv/dist/2020.js').Ajv2020,
};
const MULTIPLYING = ['$ref', '$dynamicRef', '$recursiveRef', 'anyOf', 'oneOf', 'allOf'] as const;
const OLDER = /^https?:\/\/json-schema\.org\/draft-0[467]\/schema#?$/;
/** Keywords that draft 7 does not have. */
const NEWER =
  /"(?:prefixItems|unevaluatedItems|unevaluatedProperties|dependentRequired|dependentSchemas|\$dynamicRef)":/;

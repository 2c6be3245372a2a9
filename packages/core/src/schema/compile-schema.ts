import type { Json, JsonObject, JsonSchema, Validator } from '@dragoman/protocols';
import { Effort, TooMuchEffort } from './effort.ts';
import { SchemaDocument } from './schema-document.ts';
import type { SchemaNode } from './schema-node.ts';
import { SchemaRun } from './schema-run.ts';

/** A schema that is known only at run time, as two validators. */
export interface CompiledSchema {
  /** Stops at the first problem. */
  readonly first: Validator;
  /** Finds every problem, or only the first if finding all would take too long: recursive choices double at each level. */
  readonly all: Validator;
}

/** Compiles a schema without generating code. Throws a worded error for unsupported parts. */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  try {
    requireKnownDialect(schema);
    const { root } = new SchemaDocument(schema as JsonObject);
    return { first: validatorOf(root, { findsAll: false }), all: validatorOf(root, { findsAll: true }) };
  } catch (error) {
    throw new Error(`unsupported JSON Schema: ${(error as Error).message}`);
  }
}

function validatorOf(root: SchemaNode, { findsAll }: { readonly findsAll: boolean }): Validator {
  const validate: Validator = (value) => {
    const json = value as Json;
    const run = new SchemaRun({ effort: new Effort(json), findsAll });
    try {
      const isFit = run.fits(root, json);
      validate.errors = isFit ? null : run.errors;
      return isFit;
    } catch (error) {
      if (!findsAll || !(error instanceof TooMuchEffort)) throw error;
      const first = new SchemaRun({ effort: new Effort(json), findsAll: false });
      const isFit = first.fits(root, json);
      validate.errors = isFit ? null : first.errors;
      return isFit;
    }
  };
  return validate;
}

function requireKnownDialect({ $schema }: JsonSchema): void {
  if ($schema === undefined || (typeof $schema === 'string' && DIALECTS.test($schema))) return;
  throw new Error(
    `/$schema must be a draft of JSON Schema from 4 to 2020-12; got ${JSON.stringify($schema).slice(0, 200)}`,
  );
}

const DIALECTS = /^https?:\/\/json-schema\.org\/(?:draft-0[467]\/|draft\/20(?:19-09|20-12)\/)?schema#?$/;

import { type Json, pointerTo, type Validator } from '@dragoman/protocols';
import type { Effort } from './effort.ts';
import type { SchemaKind, SchemaNode } from './schema-node.ts';

type ValidatorError = NonNullable<Validator['errors']>[number];

/** One check of a value: its position, the problems so far, and the remaining work budget. */
export class SchemaRun {
  readonly errors: ValidatorError[] = [];
  readonly effort: Effort;
  /** Whether every problem is wanted, or only the first. */
  readonly findsAll: boolean;
  /** Collected only where the schema has `unevaluatedProperties` or `unevaluatedItems`. */
  evaluated: Evaluated | undefined;
  readonly #path: (string | number)[] = [];
  /** Above 0 while only the verdict of a part counts, as below `not`. */
  #quiet = 0;

  constructor({ effort, findsAll }: { readonly effort: Effort; readonly findsAll: boolean }) {
    this.effort = effort;
    this.findsAll = findsAll;
  }

  /** Records a problem. Always false, so that a rule can return it. */
  fail(keyword: string, schemaPath: string, params: ValidatorError['params']): false {
    if (this.#quiet === 0 && this.errors.length < MOST_PROBLEMS) {
      this.errors.push({ instancePath: pointerTo('', ...this.#path), schemaPath, keyword, params });
    }
    return false;
  }

  /** Whether the value at the current place fits the schema. */
  fits(node: SchemaNode, value: Json): boolean {
    this.effort.look(node.weight);
    const outer = this.evaluated;
    if (node.isTracked) this.evaluated = new Evaluated();
    let isFit = true;
    for (const rule of node.rules[kindOf(value)]) {
      if (rule(value as never, this)) continue;
      isFit = false;
      if (!this.findsAll) break;
    }
    // JSON Schema, 7.7.1: a schema that fails has evaluated nothing.
    if (isFit && outer !== undefined) this.evaluated?.addTo(outer);
    this.evaluated = outer;
    return isFit;
  }

  /** Whether a member or an item of the current value fits the schema. */
  fitsAt(key: string | number, node: SchemaNode, value: Json): boolean {
    const outer = this.evaluated;
    this.evaluated = undefined;
    this.#path.push(key);
    const isFit = this.fits(node, value);
    this.#path.pop();
    this.evaluated = outer;
    return isFit;
  }

  /** Like `fits`, without recording problems. */
  fitsQuietly(node: SchemaNode, value: Json): boolean {
    this.#quiet += 1;
    const isFit = this.fits(node, value);
    this.#quiet -= 1;
    return isFit;
  }
}

/** The evaluated members and items of one value (JSON Schema 2020-12, 11). */
export class Evaluated {
  readonly keys = new Set<string | number>();

  addTo(other: Evaluated): void {
    for (const key of this.keys) other.keys.add(key);
  }
}

function kindOf(value: Json): SchemaKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'object':
      if (value === null) return 'other';
      return Array.isArray(value) ? 'array' : 'object';
    default:
      return 'other';
  }
}

/** The most problems that are recorded. */
const MOST_PROBLEMS = 100;

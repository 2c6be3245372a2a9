import { fieldFault } from './path.ts';

/** `{price} * {quantity}`: numbers, fields of an item in braces, `+ - * / %` and parentheses. */
export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'field'; readonly name: string }
  | {
      readonly kind: 'operation';
      /** Named as in `Calculate`. */
      readonly operation: ExpressionOperation;
      readonly left: Expression;
      readonly right: Expression;
    };

export type ExpressionOperation = 'add' | 'subtract' | 'multiply' | 'divide' | 'modulo';

/** Whether a text is an expression: field names have no braces. */
export function isExpression(text: string): boolean {
  return text.includes('{');
}

/** The parsed expression, or its problem as a string, worded to follow a name: `must …`. */
export function parseExpression(text: string): Expression | string {
  const parser = new Parser(text);
  try {
    return parser.whole();
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

class Fault extends Error {}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#tokens = text.match(TOKEN) ?? [];
  }

  whole(): Expression {
    const expression = this.#sum();
    const rest = this.#tokens[this.#at];
    if (rest !== undefined) throw new Fault(`must have an operator (+ - * / %) before ${rest}`);
    return expression;
  }

  #sum(): Expression {
    return this.#chain(SUMS, () => this.#product());
  }

  #product(): Expression {
    return this.#chain(PRODUCTS, () => this.#operand());
  }

  /** Operators of equal precedence apply from left to right: 10 - 3 - 2 is 5. */
  #chain(operations: ReadonlyMap<string, ExpressionOperation>, next: () => Expression): Expression {
    let left = next();
    for (;;) {
      const operation = operations.get(this.#tokens[this.#at] ?? '');
      if (operation === undefined) return left;
      this.#at += 1;
      left = { kind: 'operation', operation, left, right: next() };
    }
  }

  #operand(): Expression {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    if (token === '(' || token === '-') {
      this.#depth += 1;
      if (this.#depth > DEEPEST) throw new Fault(`must be nested at most ${DEEPEST} levels deep`);
      const inner = token === '(' ? this.#sum() : this.#operand();
      this.#depth -= 1;
      if (token === '-') return { kind: 'operation', operation: 'multiply', left: MINUS_ONE, right: inner };
      if (this.#tokens[this.#at] !== ')') throw new Fault('must close every parenthesis');
      this.#at += 1;
      return inner;
    }
    if (token !== undefined && /^[\d.]/.test(token) && Number.isFinite(Number(token))) {
      return { kind: 'number', value: Number(token) };
    }
    if (token?.startsWith('{') && token.endsWith('}')) return fieldIn(token.slice(1, -1).trim());
    const received = token === undefined ? 'nothing follows' : `got ${token}`;
    throw new Fault(`must have a number, a {field} or a parenthesis ${this.#place()}; ${received}`);
  }

  #place(): string {
    const before = this.#tokens[this.#at - 2];
    return before === undefined ? 'at its beginning' : `after ${before}`;
  }
}

function fieldIn(name: string): Expression {
  const fault = fieldFault(name);
  if (fault !== undefined) throw new Fault(`${fault.expected} in braces; got {${name}}`);
  return { kind: 'field', name };
}

const TOKEN = /\{[^{}]*\}|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|[A-Za-z_]\w*|\S/g;
const SUMS: ReadonlyMap<string, ExpressionOperation> = new Map([
  ['+', 'add'],
  ['-', 'subtract'],
]);
const PRODUCTS: ReadonlyMap<string, ExpressionOperation> = new Map([
  ['*', 'multiply'],
  ['/', 'divide'],
  ['%', 'modulo'],
]);
const MINUS_ONE: Expression = { kind: 'number', value: -1 };
const DEEPEST = 32;

import { failure, type Issue, issuesOf, type JsonObject, type JsonSchema, segmentsOf } from '@dragoman/protocols';
import { Refused } from '../refusals/refused.ts';
import { type CompiledSchema, compileSchema } from '../schema/compile-schema.ts';
import { TooMuchEffort } from '../schema/effort.ts';
import { cutTo } from '../text/cut-to.ts';

/**
 * Checks arguments against the schema of their tool, which is compiled at the first call. It is synchronous, so that
 * calls start in the order in which they arrive (A2E wire, Message Ordering).
 */
export class ArgumentCheck {
  readonly #schema: JsonSchema;
  readonly #tool: string;
  #compiled: CompiledSchema | undefined;

  constructor(schema: JsonSchema, tool: string) {
    this.#schema = schema;
    this.#tool = tool;
  }

  /** Every problem, with its pointer below `/arguments`. Throws if the schema itself is invalid. */
  issuesOf(args: JsonObject): readonly Issue[] {
    this.#compiled ??= compiled(this.#schema, this.#tool);
    const { first, all } = this.#compiled;
    const issues = inBounds(this.#tool, () => {
      if (first(args)) return NONE;
      // Collecting every problem of a large message could take more memory than the message did.
      return issuesOf(isSmall(args) ? all : first, this.#schema, args);
    });
    return issues.map(argumentIssue);
  }
}

function argumentIssue(issue: Issue): Issue {
  const pointer = `/arguments${issue.pointer}`;
  if (issue.code !== 'required') return { ...issue, pointer };
  const name = cutTo(segmentsOf(issue.pointer).join('.'), LONGEST_NAME);
  return { ...issue, pointer, message: `missing required argument "${name}"` };
}

/** Compiles a schema. An invalid one is the tool owner's mistake, so the caller gets `tool_failed` with the reason. */
function compiled(schema: JsonSchema, tool: string): CompiledSchema {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw unusable(tool, (error as Error).message);
  }
}

/** Turns an excess into a refusal: `tool_failed` if the schema causes it, `too_large` if the arguments do. */
function inBounds(tool: string, check: () => readonly Issue[]): readonly Issue[] {
  try {
    return check();
  } catch (error) {
    // Arguments of the wire have a limited depth, so an overflow of the stack means that the schema refers to itself.
    if (error instanceof RangeError) throw unusable(tool, ENDLESS);
    if (!(error instanceof TooMuchEffort)) throw error;
    throw new Refused(failure('too_large', {}, `The arguments are too complex to check: ${error.message}.`));
  }
}

function unusable(tool: string, reason: string): Refused {
  const text = `The input schema of the tool ${tool} cannot be used (${reason}). This is a fault of the tool, not of the arguments.`;
  return new Refused(failure('tool_failed', {}, text));
}

/** Whether the value has few members, all the way down, and short texts. */
function isSmall(value: unknown): boolean {
  let left = SMALL;
  const count = (part: unknown): boolean => {
    left -= typeof part === 'string' ? 1 + part.length / LONG : 1;
    if (left < 0) return false;
    return typeof part !== 'object' || part === null || Object.values(part).every(count);
  };
  return count(value);
}

const ENDLESS = 'it refers to itself endlessly, or the arguments are nested too deep for it';
const SMALL = 2_000;
/** A text counts as one more member for each 64 characters. */
const LONG = 64;
const LONGEST_NAME = 80;
const NONE: readonly Issue[] = [];

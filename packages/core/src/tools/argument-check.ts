import { failure, type Issue, issuesOf, type JsonObject, type JsonSchema, segmentsOf } from '@dragoman/protocols';
import { Refused } from '../refusals/refused.ts';
import { type CompiledSchema, compileSchema } from '../schema/compile-schema.ts';
import { TooMuchEffort } from '../schema/effort.ts';
import { cutTo } from '../text/cut-to.ts';

/**
 * Arguments against the schema of their tool, which is compiled when the tool is first called. It waits for nothing: calls start in
 * the order in which they arrive (A2E wire, Message Ordering).
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

/** The tool's owner has to fix it; the caller learns what is wrong. */
function compiled(schema: JsonSchema, tool: string): CompiledSchema {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw new Refused(failure('tool_failed', {}, `The input of the tool ${tool}: ${(error as Error).message}`));
  }
}

/** Names what is too large, for the tool's owner or its caller. */
function inBounds(tool: string, check: () => readonly Issue[]): readonly Issue[] {
  try {
    return check();
  } catch (error) {
    // A schema may be itself, with nothing between; what comes by the wire is nested only so deep.
    if (error instanceof RangeError)
      throw new Refused(failure('tool_failed', {}, `The input of the tool ${tool}: ${ENDLESS}`));
    if (!(error instanceof TooMuchEffort)) throw error;
    throw new Refused(failure('too_large', {}, `The arguments are too complex to check: ${error.message}.`));
  }
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
/** A text of so many characters counts as one more. */
const LONG = 64;
const LONGEST_NAME = 80;
const NONE: readonly Issue[] = [];

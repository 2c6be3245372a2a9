import { isObject, type JsonObject, type JsonSchema, type Static } from '@dragoman/protocols';
import { ArgumentCheck } from './argument-check.ts';
import { plainJson } from './plain-json.ts';
import { schemaMistake } from './schema-mistake.ts';
import { FailedOutcome, type Tool, type ToolCall, type ToolOutcome } from './tool.ts';
import { toolDefinition } from './tool-definition.ts';

/** A tool as its author writes it. */
export interface ToolSpec<Args extends object = JsonObject> {
  /** 1 to 128 letters, digits, `.`, `_` or `-`. */
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments; anything that does not fit is refused before `run` is called. */
  readonly input: JsonSchema;
  /** JSON Schema of its result, shown to callers. */
  readonly output?: JsonSchema;
  /** Calling it twice has the same effect as calling it once. */
  readonly idempotent?: boolean;
  readonly tags?: readonly string[];
  readonly version?: string;
  /** Omitted from lists without a filter; found by searching. */
  readonly deferred?: boolean;
  /** Its return value is the result; a thrown value is the error. */
  run(args: Args, call: ToolCall): unknown;
}

/** The arguments that a JSON Schema accepts; any object if the schema's type is not literal. */
export type ToolArguments<Input> =
  Static<Input> extends infer Args extends JsonObject ? (JsonSchema extends Input ? JsonObject : Args) : JsonObject;

/**
 * Checks a tool and returns it, for a file that `tools:` names to export. The type of `args` is what `input` accepts.
 */
export function defineTool<const Input extends JsonSchema>(
  spec: ToolSpec<ToolArguments<Input>> & { readonly input: Input },
): ToolSpec<ToolArguments<Input>> {
  const problem = problemOf(spec);
  if (problem !== undefined) throw new TypeError(`defineTool: ${problem}`);
  return spec;
}

/** A tool that runs in this process. */
export function toolFrom(spec: ToolSpec): Tool {
  const check = new ArgumentCheck(spec.input, spec.name);
  const outcome = (returned: unknown) => outcomeOf(spec.name, returned);
  return {
    definition: toolDefinition(spec),
    issuesOf: (args) => check.issuesOf(args),
    // A synchronous tool is answered synchronously.
    run(args, call) {
      const returned = spec.run(args, call);
      return isThenable(returned) ? Promise.resolve(returned).then(outcome) : outcome(returned);
    },
  };
}

/** Whether an export of a tools file is a tool. Not by class: the file may use another copy of this package. */
export function isToolSpec(value: unknown): value is ToolSpec {
  return typeof value === 'object' && value !== null && 'run' in value && 'name' in value && 'input' in value;
}

/** The problem with a tool, worded; `undefined` if it is valid. An invalid tool would break the whole tool list. */
export function problemOf(spec: unknown): string | undefined {
  const tool = Object(spec) as Partial<Record<keyof ToolSpec, unknown>>;
  const { name, input, output = {}, run, tags = [] } = tool;
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    return `name must be 1 to 128 letters, digits, ".", "_" or "-"; got ${JSON.stringify(name) ?? 'nothing'}`;
  }
  if (!isWritable(input)) return `input of ${name} must be a JSON Schema, such as { type: 'object' }`;
  const mistake = schemaMistake(input);
  if (mistake !== undefined) return `input of ${name}: ${mistake}`;
  if (!isWritable(output)) return `output of ${name} must be a JSON Schema, such as { type: 'object' }`;
  if (typeof run !== 'function') return `run of ${name} must be a function (args, call) => result`;
  for (const [member, type, what] of KINDS) {
    if (tool[member] !== undefined && typeof tool[member] !== type) return `${member} of ${name} must be ${what}`;
  }
  const isNames = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string');
  return isNames ? undefined : `tags of ${name} must be a list of texts`;
}

/** Whether the schema is an object that can be written as JSON, so not, for example, one that contains itself. */
function isWritable(schema: unknown): boolean {
  try {
    return isObject(schema) && isObject(JSON.parse(JSON.stringify(schema)));
  } catch {
    return false;
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function outcomeOf(name: string, returned: unknown): ToolOutcome {
  if (returned instanceof FailedOutcome) return returned;
  try {
    return { success: true, data: returned === undefined ? null : plainJson(returned) };
  } catch (error) {
    throw new TypeError(`the result of ${name} is not JSON: ${whyNotJson(error)}`, { cause: error });
  }
}

/** A short text for the common reasons, because the engine's messages are long. */
function whyNotJson(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  if (/circular/i.test(words)) return 'it contains itself';
  if (/BigInt/.test(words)) return 'it has a BigInt; give a number or a string';
  return words;
}

const KINDS = [
  ['description', 'string', 'a string'],
  ['version', 'string', "a string, such as '1.0.0'"],
  ['idempotent', 'boolean', 'true or false'],
  ['deferred', 'boolean', 'true or false'],
] as const;
/** `__` separates the name of an MCP server from its tool's name. */
const TOOL_NAME = /^[a-zA-Z0-9._-]{1,128}$/;

import { isObject, type Json, type JsonObject, parseJson } from '@dragoman/protocols';
import type { ToolDefinition, ToolResult } from '@dragoman/protocols/a2e-wire';
import { uniqueToolNames } from '@dragoman/protocols/mcp';
import type { FunctionCall } from '@dragoman/protocols/openai';
import type { Call } from '../../call/call.ts';
import { failureOf } from '../../refusals/refused.ts';
import { cutTo } from '../../text/cut-to.ts';

/** The result of a call: the text for the model, and the part that the caller sees. */
export interface ToolEnd {
  readonly ok: boolean;
  readonly text: string;
  readonly shown: JsonObject;
}

/** The tools of this server that a model may call for one caller: those the operator names and the caller may use. */
export class ModelTools {
  readonly #tools: Call['tools'];
  readonly #byName: ReadonlyMap<string, ToolDefinition>;

  private constructor(tools: Call['tools'], byName: ReadonlyMap<string, ToolDefinition>) {
    this.#tools = tools;
    this.#byName = byName;
  }

  /** `taken`: the names of functions that the caller runs itself. */
  static async open(tools: Call['tools'], patterns: readonly string[], taken: readonly string[]): Promise<ModelTools> {
    if (tools === undefined || patterns.length === 0) return new ModelTools(tools, new Map());
    const isWanted = patternsTest(patterns);
    const found = (await tools.list({ deferred: true })).filter(isWanted).slice(0, MOST_TOOLS);
    const names = uniqueToolNames(
      found.map(({ name }) => name),
      taken,
    );
    return new ModelTools(tools, new Map(found.map((tool, index) => [names[index] ?? tool.name, tool])));
  }

  /** The tools in the shape of chat completions. */
  get functions(): JsonObject[] {
    return [...this.#byName].map(([name, { description, input_schema: schema }]) => ({
      type: 'function',
      function: { name, description, parameters: parametersOf(schema as JsonObject | null) },
    }));
  }

  /** The name that the hub has for the tool. The model may know the tool by another name. */
  nameOf(name: string): string {
    return this.#byName.get(name)?.name ?? name;
  }

  /** Returns errors of a call to the model, which can correct it. Rejects only when the request ends. */
  async call({ name, arguments: text }: FunctionCall, signal: AbortSignal): Promise<ToolEnd> {
    const tool = this.#byName.get(name);
    if (tool === undefined || this.#tools === undefined) {
      const known = [...this.#byName.keys()].join(', ');
      return failed(`there is no tool ${JSON.stringify(name)}; ${known === '' ? 'there are none' : `use ${known}`}`);
    }
    const args = argumentsIn(text);
    if (typeof args === 'string') return failed(args);
    try {
      return endOf(await this.#tools.call(tool.name, args));
    } catch (error) {
      signal.throwIfAborted();
      const known = failureOf(error);
      const issues = known?.details.issues?.map(({ message }) => message) ?? [];
      return failed([known?.message ?? 'the tool failed', ...issues].join('\n'));
    }
  }
}

function argumentsIn(text: string): JsonObject | string {
  // Some models send empty text where a tool has no arguments.
  if (text.trim() === '') return {};
  const json = parseJson(text);
  if (!json.ok) return `the arguments are not valid JSON: ${json.issues[0]?.message ?? ''}`;
  return isObject(json.value) ? json.value : 'the arguments must be a JSON object';
}

function endOf({ success, data, error }: ToolResult): ToolEnd {
  const value = (data ?? null) as Json;
  if (!success) {
    const more = value === null ? '' : `\n${JSON.stringify(value)}`;
    return failed(`${error ?? 'the tool failed'}${more}`);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { ok: true, text: shortened(text), shown: { result: value } };
}

function failed(why: string): ToolEnd {
  return { ok: false, text: shortened(`Error: ${why}`), shown: { error: cutTo(why, MOST_SHOWN) } };
}

function shortened(text: string): string {
  if (text.length <= MOST_RESULT) return text;
  return `${cutTo(text, MOST_RESULT)}\n[cut: the result has ${text.length} characters]`;
}

/** Every server requires the parameters of a function to be an object with properties. */
function parametersOf(schema: JsonObject | null): JsonObject {
  return { ...schema, type: 'object', properties: schema?.['properties'] ?? {} };
}

/** Whether a tool has one of these names. `*` matches any text; `files/*` is every tool of the MCP server or group `files`. */
function patternsTest(patterns: readonly string[]): (tool: ToolDefinition) => boolean {
  const tests = patterns.map((pattern) => pattern.split('*'));
  return ({ name, toolkit }) => {
    const inToolkit = toolkit === null ? undefined : `${toolkit}/${withoutPrefix(name, `${toolkit}__`)}`;
    return tests.some((parts) => matches(parts, name) || (inToolkit !== undefined && matches(parts, inToolkit)));
  };
}

/** Whether the text has the parts in this order, the first at its beginning and the last at its end. */
function matches(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

/** OpenAI's limit. */
const MOST_TOOLS = 128;
const MOST_RESULT = 65_536;
const MOST_SHOWN = 2000;

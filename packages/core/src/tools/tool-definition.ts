import { isObject, type Json, type JsonObject, type JsonSchema } from '@dragoman/protocols';
import type { ToolDefinition, ToolParameter } from '@dragoman/protocols/a2e-wire';

export interface DefinitionGiven {
  readonly name: string;
  readonly description?: string | undefined;
  readonly input: JsonSchema;
  readonly output?: JsonSchema | undefined;
  readonly idempotent?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly version?: string | undefined;
  readonly deferred?: boolean | undefined;
  /** The group of the tool, such as an MCP server. */
  readonly toolkit?: string | undefined;
}

/** A tool as `tool/list` returns it: with the protocol's parameter lists, and the complete schemas beside them. */
export function toolDefinition(given: DefinitionGiven): ToolDefinition {
  const { name, description = '', input, output, idempotent = false, tags = [], version = '1.0.0' } = given;
  return {
    name,
    description,
    input_parameters: parametersOf(input),
    output_parameters: output === undefined ? [] : parametersOf(output),
    streaming: true,
    idempotent,
    tags: [...tags],
    version,
    toolkit: given.toolkit ?? null,
    defer_loading: given.deferred ?? false,
    input_schema: input as JsonObject,
    output_schema: (output as JsonObject | undefined) ?? null,
  };
}

function parametersOf(schema: JsonSchema): ToolParameter[] {
  const { properties, required } = schema;
  if (!isObject(properties)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, property]) => parameterOf(name, property, needed.includes(name)));
}

function parameterOf(name: string, property: Json, required: boolean): ToolParameter {
  const schema: JsonObject = isObject(property) ? property : {};
  const { description, properties } = schema;
  return {
    name,
    type: typeOf(schema),
    description: typeof description === 'string' ? description : '',
    required,
    enum: Array.isArray(schema['enum']) ? schema['enum'] : null,
    properties: isObject(properties) ? Object.fromEntries(Object.entries(properties).filter(isSchemaEntry)) : null,
  };
}

function isSchemaEntry(entry: [string, Json]): entry is [string, JsonObject] {
  return isObject(entry[1]);
}

/** The parameter list has only one type; the schema beside it is complete. */
function typeOf({ type, enum: values }: JsonObject): string {
  const named = [type].flat().find((one) => typeof one === 'string' && one !== 'null');
  if (typeof named === 'string') return named;
  return Array.isArray(values) && values.every((value) => typeof value === 'string') ? 'string' : 'any';
}

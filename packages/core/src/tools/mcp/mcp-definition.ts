import { createHash } from 'node:crypto';
import { canonicalJson, isObject, type Json, type JsonObject, type JsonSchema } from '@dragoman/protocols';
import { withoutInvisible } from './invisible.ts';

/** A tool as its MCP server describes it, without invisible characters and with its name here. */
export interface McpDefinition {
  /** `<server>__<tool>`. */
  readonly name: string;
  /** The name at the server. */
  readonly tool: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  readonly idempotent: boolean;
  /** Title, annotations, icons and `_meta`, for callers that use MCP. */
  readonly more: JsonObject;
  /** The complete definition as canonical JSON. */
  readonly definition: string;
  /** The hash of `definition`: with another hash it counts as changed. */
  readonly hash: string;
}

/** `undefined` for a tool with an invalid name or an oversized definition. */
export function mcpDefinition(server: string, given: Json): McpDefinition | undefined {
  const cleaned = withoutInvisible(given);
  if (!isObject(cleaned) || typeof cleaned['name'] !== 'string') return undefined;
  const name = `${server}__${cleaned['name']}`;
  const text = canonicalJson(cleaned);
  if (!NAME.test(name) || text.length > LONGEST) return undefined;
  const { description, inputSchema, outputSchema, annotations } = cleaned;
  return {
    name,
    tool: cleaned['name'],
    description: typeof description === 'string' ? description.slice(0, LONGEST_DESCRIPTION) : '',
    input: isObject(inputSchema) ? inputSchema : { type: 'object' },
    output: isObject(outputSchema) ? outputSchema : undefined,
    idempotent: isObject(annotations) && isIdempotent(annotations),
    more: Object.fromEntries(
      MORE.flatMap((member) => (cleaned[member] === undefined ? [] : [[member, cleaned[member]]])),
    ),
    definition: text,
    hash: createHash('sha256').update(text).digest('hex'),
  };
}

function isIdempotent({ idempotentHint, readOnlyHint }: JsonObject): boolean {
  return idempotentHint === true || readOnlyHint === true;
}

const MORE = ['title', 'annotations', 'icons', '_meta'] as const;
const NAME = /^[a-zA-Z0-9._-]{1,192}$/;
const LONGEST = 256 * 1024;
const LONGEST_DESCRIPTION = 16_384;

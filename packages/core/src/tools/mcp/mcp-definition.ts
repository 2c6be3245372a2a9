import { createHash } from 'node:crypto';
import { canonicalJson, isObject, type Json, type JsonObject, type JsonSchema } from '@dragoman/protocols';
import { withoutInvisible } from './invisible.ts';

/** A tool as its MCP server describes it, cleaned, under the name it has here. */
export interface McpDefinition {
  /** `<server>__<tool>`. */
  readonly name: string;
  /** What its server calls it. */
  readonly tool: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  readonly idempotent: boolean;
  /** Title, annotations, icons and `_meta`, for those who speak MCP too. */
  readonly more: JsonObject;
  /** Everything the server says about it, as JSON text. */
  readonly definition: string;
  /** Of that: another hash is another tool. */
  readonly hash: string;
}

/** `undefined` for a tool that cannot be called by a name, or whose description is out of all proportion. */
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

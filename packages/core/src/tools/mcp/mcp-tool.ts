import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { failureOf } from '../../refusals/refused.ts';
import { ArgumentCheck } from '../argument-check.ts';
import { FailedOutcome, type Tool, type ToolCall, type ToolOutcome } from '../tool.ts';
import { toolDefinition } from '../tool-definition.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import type { McpDefinition } from './mcp-definition.ts';

/** The result of `tools/call`, as received. */
export interface McpResult {
  readonly content?: Json;
  readonly structuredContent?: Json;
  readonly isError?: Json;
}

/** Makes a tool from the definition of an MCP server. */
export function mcpTool(
  server: string,
  definition: McpDefinition,
  ask: (tool: string, args: JsonObject, call: ToolCall) => Promise<McpResult>,
): Tool {
  const check = new ArgumentCheck(definition.input, definition.name);
  let isUnusable = false;
  const giveUp = () => {
    isUnusable = true;
    return [];
  };
  return {
    definition: toolDefinition({ ...definition, tags: ['mcp', server], toolkit: server }),
    mcp: definition.more,
    // If the schema cannot be compiled here, only the server checks the arguments.
    issuesOf: (args) => {
      if (isUnusable) return [];
      try {
        return check.issuesOf(args);
      } catch (error) {
        // Arguments that are too large do not mean that the schema is unusable.
        if (failureOf(error)?.code === 'too_large') throw error;
        return giveUp();
      }
    },
    run: (args, call) => ask(definition.tool, args, call).then(outcomeOf),
  };
}

/** Prefers structured content; otherwise joins text parts, or returns the list of parts if there are others. */
export function outcomeOf({ content, structuredContent: structured, isError }: McpResult): ToolOutcome {
  // Some servers write null for missing content; MCP allows only objects.
  const structuredContent = structured ?? undefined;
  if (!Array.isArray(content) && structuredContent === undefined) {
    throw new WireRefused('mcp_protocol_error', 'The MCP server answered without any content.');
  }
  const parts = Array.isArray(content) ? content : [];
  let text: string | undefined;
  let isText = parts.length > 0;
  for (const part of parts) {
    const partText = isObject(part) ? part['text'] : undefined;
    isText &&= isObject(part) && typeof partText === 'string' && part['type'] === 'text';
    if (typeof partText === 'string') text = text === undefined ? partText : `${text}\n${partText}`;
  }
  text ??= '';
  const data = structuredContent === undefined ? (isText ? text : parts) : structuredContent;
  if (isError !== true) {
    return structuredContent === undefined || text === ''
      ? { success: true, data }
      : { success: true, data, summary: text };
  }
  return new FailedOutcome(text === '' ? 'The tool did not succeed.' : text.slice(0, 2000), {
    code: 'MCP_TOOL_ERROR',
    data,
  });
}

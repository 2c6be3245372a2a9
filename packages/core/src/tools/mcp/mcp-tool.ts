import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { failureOf } from '../../refusals/refused.ts';
import { ArgumentCheck } from '../argument-check.ts';
import { FailedOutcome, type Tool, type ToolCall, type ToolOutcome } from '../tool.ts';
import { toolDefinition } from '../tool-definition.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import type { McpDefinition } from './mcp-definition.ts';

/** What an MCP server answers to `tools/call`, read from JSON and therefore plain. */
export interface McpResult {
  readonly content?: Json;
  readonly structuredContent?: Json;
  readonly isError?: Json;
}

/** A tool of an MCP server as one of ours. */
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
    // A schema that cannot be compiled here is still the server's to judge by.
    issuesOf: (args) => {
      if (isUnusable) return [];
      try {
        const issues = check.issuesOf(args);
        return issues instanceof Promise ? issues.catch(giveUp) : issues;
      } catch (error) {
        // What one caller sends too much of says nothing about what others send.
        if (failureOf(error)?.code === 'too_large') throw error;
        return giveUp();
      }
    },
    run: (args, call) => ask(definition.tool, args, call).then(outcomeOf),
  };
}

/** Structured content where there is some; text as text; anything else as the list of its parts. */
export function outcomeOf({ content, structuredContent: structured, isError }: McpResult): ToolOutcome {
  // Some write what is not there as null; MCP has objects there and nothing else.
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

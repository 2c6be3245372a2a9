import type { Json } from '@dragoman/protocols';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Log } from '../../ports.ts';
import { unlessAborted } from '../../until-aborted.ts';
import type { McpServerConfig } from '../tools-config.ts';
import { type McpDefinition, mcpDefinition } from './mcp-definition.ts';

export interface ReadDefinitionsOptions {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What a server says its tools are, page by page: those the operator takes, as many as anybody could want. */
export async function readDefinitions(
  client: Client,
  { name, config, log, timeoutMs, signal }: ReadDefinitionsOptions,
): Promise<McpDefinition[]> {
  const definitions: McpDefinition[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const asked = client.listTools(cursor === undefined ? {} : { cursor }, { timeout: timeoutMs });
    // The SDK would listen to the signal for as long as that lasts.
    const page = await unlessAborted(asked, signal);
    for (const given of page.tools) {
      const definition = mcpDefinition(name, given as unknown as Json);
      if (definition !== undefined && (config.tools?.includes(definition.tool) ?? true)) definitions.push(definition);
      else log.warn({ mcp_server: name, tool: String(given.name).slice(0, 128) }, 'a tool is left out');
    }
    cursor = page.nextCursor;
    pages += 1;
    // A server may have no tools on any number of pages.
  } while (cursor !== undefined && definitions.length < MOST_TOOLS && pages < MOST_TOOLS);
  return definitions.slice(0, MOST_TOOLS);
}

const MOST_TOOLS = 1_000;

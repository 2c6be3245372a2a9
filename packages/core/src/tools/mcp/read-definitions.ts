import type { Json } from '@dragoman/protocols';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { LimitedLog } from '../../limited-log.ts';
import type { Clock, Log, LogFields } from '../../ports.ts';
import { unlessAborted } from '../../until-aborted.ts';
import { toolDefinition } from '../tool-definition.ts';
import type { McpServerConfig } from '../tools-config.ts';
import { type McpDefinition, mcpDefinition } from './mcp-definition.ts';

export interface ReadDefinitionsOptions {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What a server says its tools are, page by page: those the operator takes, as many and as long as anybody could want. */
export async function readDefinitions(
  client: Client,
  { name, config, clock, log, timeoutMs, signal }: ReadDefinitionsOptions,
): Promise<McpDefinition[]> {
  const definitions: McpDefinition[] = [];
  const limited = new LimitedLog({ log, clock, fields: { mcp_server: name } });
  let bytes = 0;
  let isFull = false;
  let cursor: string | undefined;
  let pages = 0;
  do {
    const asked = client.listTools(cursor === undefined ? {} : { cursor }, { timeout: timeoutMs });
    // The SDK would listen to the signal for as long as that lasts.
    const page = await unlessAborted(asked, signal);
    for (const given of page.tools) {
      const definition = isFull ? undefined : mcpDefinition(name, given as unknown as Json);
      const isWanted = definition !== undefined && (config.tools?.includes(definition.tool) ?? true);
      const size = isWanted ? toldBytes(definition) : 0;
      const isTaken = isWanted && size <= MOST_BYTES / 2;
      if (isTaken) {
        bytes += size;
        isFull = bytes > MOST_BYTES || definitions.length === MOST_TOOLS;
      }
      if (isTaken && !isFull) definitions.push(definition);
      else limited.write('warn', leftOut(given.name, isFull), 'a tool is left out');
    }
    cursor = page.nextCursor;
    pages += 1;
    // A server may have no tools on any number of pages.
  } while (cursor !== undefined && !isFull && pages < MOST_TOOLS);
  limited.flush();
  return definitions;
}

/** As `tool/list` tells it: a short schema can make long lists of parameters. */
function toldBytes(definition: McpDefinition): number {
  return Buffer.byteLength(JSON.stringify(toolDefinition(definition)));
}

function leftOut(tool: string, isFull: boolean): LogFields {
  const fields = { tool: tool.slice(0, 128) };
  if (!isFull) return fields;
  return { ...fields, error: `expected at most ${MOST_TOOLS} tools, and 2 MiB of them, from one server; got more` };
}

const MOST_TOOLS = 1_000;
/** All of them are told in one line, and so are those of other servers. One that takes half of it is left out by itself. */
const MOST_BYTES = 2 * 1024 * 1024;

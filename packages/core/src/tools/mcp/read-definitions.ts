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

/**
 * What a server says its tools are, page by page: those the operator takes, as many and as long as anybody could want. One that is
 * not as MCP has it is left out by itself; where the SDK reads a page, it keeps from us all the others too, and so does one whose
 * output it cannot compile, which nobody here asks it to.
 */
export async function readDefinitions(
  client: Client,
  { name, config, clock, log, timeoutMs, signal }: ReadDefinitionsOptions,
): Promise<McpDefinition[]> {
  const { ResultSchema, ToolSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const definitions: McpDefinition[] = [];
  const names = new Set<string>();
  const limited = new LimitedLog({ log, clock, fields: { mcp_server: name } });
  let bytes = 0;
  let isFull = false;
  let cursor: string | undefined;
  const cursors = new Set<string | undefined>();
  do {
    const params = cursor === undefined ? {} : { cursor };
    const asked = client.request({ method: 'tools/list', params }, ResultSchema, { timeout: timeoutMs });
    // The SDK would listen to the signal for as long as that lasts.
    const { tools, nextCursor } = await unlessAborted(asked, signal);
    if (!Array.isArray(tools)) throw new Error('it answered tools/list without a list of tools');
    for (const given of tools) {
      const { data } = ToolSchema.safeParse(given);
      const definition = isFull || data === undefined ? undefined : mcpDefinition(name, data as unknown as Json);
      // Of two of one name only the server knows which is called; the one that it told first is.
      const isWanted =
        definition !== undefined && !names.has(definition.name) && (config.tools?.includes(definition.tool) ?? true);
      const size = isWanted ? toldBytes(definition) : 0;
      const isTaken = isWanted && size <= MOST_BYTES / 2;
      if (isTaken) {
        bytes += size;
        isFull = bytes > MOST_BYTES || definitions.length === MOST_TOOLS;
      }
      if (isTaken && !isFull) {
        definitions.push(definition);
        names.add(definition.name);
      } else limited.write('warn', leftOut(given, isFull), 'a tool is left out');
    }
    cursors.add(cursor);
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
    // A server may have no tools on any number of pages, or come back to one that was read.
  } while (cursor !== undefined && !cursors.has(cursor) && !isFull && cursors.size < MOST_TOOLS);
  limited.flush();
  return definitions;
}

/** As `tool/list` tells it: a short schema can make long lists of parameters. */
function toldBytes(definition: McpDefinition): number {
  return Buffer.byteLength(JSON.stringify(toolDefinition(definition)));
}

function leftOut(given: unknown, isFull: boolean): LogFields {
  const { name } = Object(given) as { name?: unknown };
  const fields = { tool: typeof name === 'string' ? name.slice(0, 128) : null };
  if (!isFull) return fields;
  return { ...fields, error: `expected at most ${MOST_TOOLS} tools, and 2 MiB of them, from one server; got more` };
}

const MOST_TOOLS = 1_000;
/** All of them are told in one line, and so are those of other servers. One that takes half of it is left out by itself. */
const MOST_BYTES = 2 * 1024 * 1024;

import { nearest } from '@dragoman/protocols';
import { LimitedLog } from '../../ports/limited-log.ts';
import type { Clock, Log, LogFields } from '../../ports/ports.ts';
import { toolDefinition } from '../tool-definition.ts';
import type { ConfiguredMcpServer } from '../tools-config.ts';
import { withoutInvisible } from './invisible.ts';
import type { McpClient } from './mcp-client.ts';
import { type McpDefinition, mcpDefinition } from './mcp-definition.ts';
import { toolIn } from './mcp-shapes.ts';

export interface ReadDefinitionsOptions {
  readonly name: string;
  readonly config: ConfiguredMcpServer;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Reads the list of a server's tools, page by page: only those that the operator wants, within limits. A tool that
 * violates MCP is left out alone.
 */
export async function readDefinitions(
  client: Pick<McpClient, 'listTools'>,
  { name, config, clock, log, timeoutMs, signal }: ReadDefinitionsOptions,
): Promise<McpDefinition[]> {
  const definitions: McpDefinition[] = [];
  const names = new Set<string>();
  const wanted = config.tools && new Wanted(config.tools);
  const limited = new LimitedLog({ log, clock, fields: { mcp_server: name } });
  let bytes = 0;
  let isFull = false;
  let cursor: string | undefined;
  const cursors = new Set<string | undefined>();
  do {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.listTools(params, { timeout: timeoutMs, signal });
    for (const given of tools) {
      // Tools that the operator does not want are not logged.
      if (wanted?.takes(given) === false) continue;
      const tool = isFull ? undefined : toolIn(given);
      const definition = tool && mcpDefinition(name, tool);
      // If two tools have the same name, only the server knows which one a call reaches; the first one counts.
      const isNew = definition !== undefined && !names.has(definition.name);
      const size = isNew ? listedBytes(definition) : 0;
      const isTaken = isNew && size <= MOST_BYTES / 2;
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
    // A server may send empty pages without end, or return to an earlier page.
  } while (cursor !== undefined && !cursors.has(cursor) && !isFull && cursors.size < MOST_TOOLS);
  // If not all pages were read, a missing tool may be on another page.
  if (!isFull) for (const fields of wanted?.missed() ?? []) limited.write('warn', fields, NO_SUCH_TOOL);
  limited.flush();
  return definitions;
}

/** The tools on the operator's list, and those of them that the server has listed. */
class Wanted {
  readonly #names: ReadonlySet<string>;
  readonly #missing: Set<string>;
  /** Other tools of the server, to suggest the intended name. */
  readonly #others: string[] = [];

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#missing = new Set(names);
  }

  takes(given: unknown): boolean {
    const { name } = Object(given) as { name?: unknown };
    if (typeof name !== 'string') return false;
    const shown = String(withoutInvisible(name));
    this.#missing.delete(shown);
    const isNamed = this.#names.has(shown);
    if (!isNamed && this.#others.length < MOST_TOOLS) this.#others.push(shown.slice(0, LONGEST_NAME));
    return isNamed;
  }

  *missed(): Iterable<LogFields> {
    for (const tool of this.#missing) {
      const close = nearest(tool, this.#others);
      const some = this.#others.slice(0, MOST_NAMED).join(', ');
      const fix = close === undefined ? some && `it has ${some}` : `did you mean ${close}?`;
      yield { tool, ...(fix !== '' && { fix }) };
    }
  }
}

/** The size in `tool/list`, where a short schema can become a long list of parameters. */
function listedBytes(definition: McpDefinition): number {
  return Buffer.byteLength(JSON.stringify(toolDefinition(definition)));
}

function leftOut(given: unknown, isFull: boolean): LogFields {
  const { name } = Object(given) as { name?: unknown };
  const fields = { tool: typeof name === 'string' ? name.slice(0, LONGEST_NAME) : null };
  if (!isFull) return fields;
  return { ...fields, error: `expected at most ${MOST_TOOLS} tools, and 2 MiB of them, from one server; got more` };
}

const NO_SUCH_TOOL = 'mcp_servers names a tool that the server does not have';
const MOST_TOOLS = 1_000;
const MOST_NAMED = 20;
const LONGEST_NAME = 128;
/** All tools are listed in one line. A definition that takes half of this limit is left out. */
const MOST_BYTES = 2 * 1024 * 1024;

import type { JsonObject } from '@dragoman/protocols';
import type { McpServerInfo } from '@dragoman/protocols/a2e-wire';
import type { Http } from './http.ts';

/** Every tool, and the names of the changed tools that wait to be accepted. */
export interface ToolList {
  readonly tools: readonly { readonly name: string; readonly description: string; readonly toolkit: string | null }[];
  readonly held: readonly string[];
  /** The names in `held` whose change was not refused yet. */
  readonly undecided: readonly string[];
}

/** The accepted and the changed definition of a tool, or of the card of a foreign agent. */
export interface HeldChange {
  readonly pinned_at: string | null;
  /** Null if the accepted definition was not recorded. */
  readonly before: JsonObject | null;
  readonly now: JsonObject;
  readonly refused: boolean;
}

/** The state of an MCP server, with its last log lines, oldest first. */
export interface McpServerState extends McpServerInfo {
  readonly log: readonly { readonly at: string; readonly level: string; readonly text: string }[];
}

export class ToolAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  list(): Promise<ToolList> {
    return this.#http.json({ path: TOOLS, gives: { tools: 'array', held: 'array' } });
  }

  /** The accepted and the changed definition of a tool. */
  change(name: string): Promise<HeldChange & { readonly name: string }> {
    return this.#http.json({ path: pathOf(name, 'change'), gives: { now: 'object' } });
  }

  /** Accepts a changed tool. */
  accept(name: string): Promise<{ name: string; accepted: true }> {
    return this.#http.json({ method: 'POST', path: pathOf(name, 'accept'), gives: { accepted: 'boolean' } });
  }

  /** Refuses a changed tool; it stays blocked until it changes again. */
  refuse(name: string): Promise<{ name: string; refused: true }> {
    return this.#http.json({ method: 'POST', path: pathOf(name, 'refuse'), gives: { refused: 'boolean' } });
  }

  async mcpServers(): Promise<readonly McpServerState[]> {
    const request = { path: 'admin/v1/mcp-servers', gives: { servers: 'array' } } as const;
    return (await this.#http.json<{ servers: readonly McpServerState[] }>(request)).servers;
  }
}

function pathOf(name: string, action: string): string {
  return `${TOOLS}/${encodeURIComponent(name)}/${action}`;
}

const TOOLS = 'admin/v1/tools';

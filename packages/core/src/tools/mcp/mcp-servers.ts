import { isDeepStrictEqual } from 'node:util';
import type { Gate } from '../../gate/gate.ts';
import { type PinChange, Pins } from '../../pins/pins.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { endOrphans } from '../../processes/orphans.ts';
import type { PinStore } from '../../store/pins.ts';
import type { References } from '../../vault/references.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import type { Tool, ToolSource } from '../tool.ts';
import type { ConfiguredMcpServer } from '../tools-config.ts';
import { McpServer } from './mcp-server.ts';
import { referencesOf } from './open-transport.ts';

export interface McpServersOptions {
  readonly configs: Readonly<Record<string, ConfiguredMcpServer>>;
  readonly clock: Clock;
  readonly log: Log;
  /** The folder that records child processes, so that a later start can end them. */
  readonly folder: string;
  readonly pins: PinStore;
  readonly gate: Gate | undefined;
  readonly reader?: JsonReader | undefined;
  readonly references?: References | undefined;
  readonly version: string;
  /** The command with which an operator accepts a changed tool. Default: that for a running server. */
  readonly howToAccept?: ((tool: string) => string) | undefined;
}

/** The MCP servers of the operator's list, and their tools. Agents can never add a server. */
export class McpServers implements ToolSource, AsyncDisposable {
  ready: Promise<void> = Promise.resolve();
  version = 1;
  readonly #servers = new Map<string, McpServer>();
  readonly #options: Omit<McpServersOptions, 'configs' | 'pins' | 'howToAccept'>;
  readonly #howToAccept: (tool: string) => string;
  readonly #pins: Pins;
  #configs: McpConfigs = {};
  /** Resolve when servers that left the list have ended. */
  readonly #retiring = new Set<Promise<void>>();

  constructor({ configs, pins, howToAccept = onServer, ...options }: McpServersOptions) {
    const { clock, folder, log } = options;
    this.#options = options;
    this.#howToAccept = howToAccept;
    this.#pins = new Pins({ store: pins, clock });
    this.check(configs);
    if (Object.keys(configs).length > 0) endOrphans({ folder, log });
    this.change(configs);
  }

  /**
   * Throws for an invalid list: a name that cannot prefix those of tools, a server without or with both `command` and
   * `url`, or a variable that is not set.
   */
  check(configs: McpConfigs): void {
    for (const [name, config] of Object.entries(configs)) {
      const { command, url } = config;
      if (!/^[a-zA-Z0-9][a-zA-Z0-9.-]{0,63}$/.test(name)) {
        throw new Error(
          `mcp_servers: ${JSON.stringify(name)} must be 1 to 64 letters, digits, "." or "-": it is the prefix before "__" in the names of tools`,
        );
      }
      if ((command === undefined) === (url === undefined)) {
        const given = command === undefined ? 'neither' : 'both';
        throw new Error(`mcp_servers.${name}: it needs a command to run or the url of a server; got ${given}`);
      }
      if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
        throw new Error(`mcp_servers.${name}.url must be an http or https URL; got ${JSON.stringify(url)}`);
      }
      referencesOf(name, config, this.#options.references);
    }
  }

  /** Replaces the list. Unchanged servers stay connected; removed ones may finish their requests. */
  change(configs: McpConfigs): void {
    for (const [name, server] of this.#servers) {
      if (isDeepStrictEqual(configs[name], this.#configs[name])) continue;
      this.#servers.delete(name);
      if (configs[name] === undefined) this.#pins.release(name, NONE);
      const ended = server.retire().finally(() => this.#retiring.delete(ended));
      this.#retiring.add(ended);
    }
    for (const [name, config] of Object.entries(configs)) {
      if (this.#servers.has(name)) continue;
      const onChange = () => {
        this.version += 1;
      };
      this.#servers.set(name, new McpServer({ ...this.#options, name, config, pins: this.#pins, onChange }));
    }
    this.#configs = configs;
    this.version += 1;
    const tried = Promise.all([...this.#servers.values()].map((server) => server.ready)).then(() => {});
    // A slow server must not delay the list of the others.
    this.ready = this.#servers.size === 0 ? tried : Promise.race([tried, this.#options.clock.wait(PATIENCE_MS)]);
  }

  servers(): Iterable<McpServer> {
    return this.#servers.values();
  }

  server(name: string): McpServer | undefined {
    return this.#servers.get(name);
  }

  *tools(): Iterable<Tool> {
    for (const server of this.#servers.values()) yield* server.tools();
  }

  find(name: string): Tool | undefined {
    // The server's name ends at the first `__`, because names contain none.
    return this.#servers.get(name.slice(0, Math.max(0, name.indexOf('__'))))?.find(name);
  }

  whyNot(name: string) {
    const server = this.#servers.get(name.slice(0, Math.max(0, name.indexOf('__'))));
    if (server === undefined) return undefined;
    const quoted = JSON.stringify(name.slice(0, 192));
    if (this.#pins.isHeld(name)) {
      const message = `The tool ${quoted} has changed since it was last accepted. It is blocked until an operator accepts the new definition.`;
      return {
        toolkit: server.name,
        message,
        fix: `review the new definition, then accept it: ${this.#howToAccept(name)}`,
      };
    }
    const { status, error = 'is not ready yet' } = server.info();
    if (status === 'ready') return undefined;
    const message = `There is no tool ${quoted} now: the MCP server ${server.name} ${error}.`;
    return { toolkit: server.name, message, retryAfter: server.retryAfter };
  }

  /** The names of tools that changed and wait to be accepted. */
  held(): string[] {
    return this.#pins.held();
  }

  /** The held tools whose change no operator has refused yet. */
  undecided(): string[] {
    return this.#pins.undecided();
  }

  /** The accepted and the changed definition of a tool. */
  changeOf(name: string): Promise<PinChange | undefined> {
    return this.#pins.change(name);
  }

  refuse(name: string): Promise<boolean> {
    return this.#pins.refuse(name);
  }

  async accept(name: string): Promise<boolean> {
    if (!(await this.#pins.accept(name))) return false;
    await this.#refresh();
    return true;
  }

  /** Reads the pins again, after another process has accepted or refused a change. False when this must be repeated. */
  async reloadPins(): Promise<boolean> {
    const isWhole = await this.#pins.reload();
    await this.#refresh();
    return isWhole;
  }

  async #refresh(): Promise<void> {
    for (const server of this.#servers.values()) await server.refresh();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server[Symbol.asyncDispose]()));
    await Promise.all(this.#retiring);
  }
}

function onServer(tool: string): string {
  return `npx dragoman tools accept ${tool}`;
}

type McpConfigs = McpServersOptions['configs'];

const NONE: ReadonlySet<string> = new Set();
const PATIENCE_MS = 10_000;

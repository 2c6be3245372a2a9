import { acpResultFor, type JsonObject, type NewQuestion, questionFromAcpRequest } from '@dragoman/protocols';
import type { McpServerInfo } from '@dragoman/protocols/a2e-wire';
import type { Ask } from '../../call/ask.ts';
import { unlessAborted } from '../../ending/until-aborted.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Pins } from '../../pins/pins.ts';
import { LimitedLog } from '../../ports/limited-log.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { type LogLine, RecentLines } from '../../ports/recent-lines.ts';
import { Backoff } from '../../time/backoff.ts';
import { Countdown } from '../../time/countdown.ts';
import type { References } from '../../vault/references.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import { Deadlines } from '../deadlines.ts';
import type { Tool, ToolCall } from '../tool.ts';
import type { ConfiguredMcpServer } from '../tools-config.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import { withoutInvisible } from './invisible.ts';
import { McpClient } from './mcp-client.ts';
import type { McpRequest } from './mcp-connection.ts';
import type { McpDefinition } from './mcp-definition.ts';
import { isForgotten, refusedBy, tooLate, whyUngreeted, whyUnreached } from './mcp-failure.ts';
import { forwardLog } from './mcp-log.ts';
import { type McpResult, mcpTool } from './mcp-tool.ts';
import { openTransport } from './open-transport.ts';
import { readDefinitions } from './read-definitions.ts';
import { isListed } from './resource-list.ts';
import { Subscriptions } from './subscriptions.ts';
import { ToolReadings } from './tool-readings.ts';

export interface McpServerOptions {
  readonly name: string;
  readonly config: ConfiguredMcpServer;
  readonly clock: Clock;
  readonly log: Log;
  /** The folder that records child processes, so that a later start can end them. */
  readonly folder: string;
  readonly pins: Pins;
  readonly gate: Gate | undefined;
  readonly reader?: JsonReader | undefined;
  /** Resolves what `env` and `headers` refer to. Default: variables and files, without a vault. */
  readonly references?: References | undefined;
  /** Our version, which the server receives. */
  readonly version: string;
  /** Called when the tools have changed. */
  readonly onChange: () => void;
}

/** `signal` ends the request to subscribe; `closed` ends the subscription. */
export interface Subscribing {
  readonly signal: AbortSignal;
  readonly closed: AbortSignal;
}

/**
 * One MCP server of the operator's list, kept connected:
 *
 *   connecting ──▶ ready ──it ends──▶ disconnected ──after 1, 2, 4 … 60 s──▶ connecting
 *        └──────it cannot be reached──▶ error ──────────────────────────────────▲
 */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly #options: McpServerOptions;
  readonly #recent: RecentLines;
  readonly #backoff = new Backoff();
  readonly #deadlines: Deadlines;
  /** For log lines that the server can cause at will. */
  readonly #log: LimitedLog;
  readonly #calls = new Set<ToolCall>();
  /** Called when the last running call has ended. */
  #onIdle = () => {};
  readonly #subscriptions = new Subscriptions();
  readonly #counts = new Map<'resources' | 'prompts', number>();
  #tools = new Map<string, Tool>();
  #definitions: readonly McpDefinition[] = [];
  #client: McpClient | undefined;
  #state: 'connecting' | 'ready' | 'error' | 'disconnected' = 'connecting';
  #fault = '';
  #retryAt = 0;
  #connectedAt = 0;
  #isStopped = false;
  /** Ends the running attempt to connect, or the open requests of the connection. */
  #giveUp = () => {};
  /** The current connection, or the next attempt. */
  #connection: Promise<McpClient | undefined>;
  /** Resolves after the first attempt to connect, whether it succeeded or not. */
  readonly ready: Promise<void>;

  constructor(options: McpServerOptions) {
    this.name = options.name;
    this.#recent = new RecentLines(options);
    this.#options = { ...options, log: this.#recent };
    this.#deadlines = new Deadlines(options.clock);
    this.#log = new LimitedLog({ log: this.#recent, clock: options.clock, fields: { mcp_server: options.name } });
    this.#connection = this.#connect(0);
    this.ready = this.#connection.then(() => {});
  }

  tools(): Iterable<Tool> {
    return this.#tools.values();
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** Sends a request. Rejects with `WireRefused` if the server refuses or cannot be reached. */
  async ask<T>(signal: AbortSignal, request: (client: McpClient) => Promise<T>): Promise<T> {
    try {
      const result = await this.#inSession(signal, request);
      this.#backoff.reset();
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw refusedBy(this.name, error);
    }
  }

  /**
   * Calls a listener when a resource changes, until its signal aborts. A listener that subscribes twice is called once.
   */
  async subscribe(uri: string, listener: object, emit: (params: JsonObject) => void, { signal, closed }: Subscribing) {
    const subscription = this.#subscriptions.add(uri, listener, emit);
    // A second subscriber meanwhile sends its own request: the first request may fail for a reason of its own.
    if (subscription.isSure) return;
    subscription.asking += 1;
    try {
      await this.ask(signal, (client) => client.subscribe(uri, { signal, timeout: this.timeoutMs }));
    } catch (error) {
      if (!subscription.isSure && subscription.asking === 1) this.#subscriptions.remove(uri, listener);
      throw error;
    } finally {
      subscription.asking -= 1;
    }
    if (subscription.isSure) return;
    subscription.isSure = true;
    const leave = () => this.#unsubscribe(uri, listener);
    if (closed.aborted) leave();
    else closed.addEventListener('abort', leave, { once: true });
  }

  /** Removes a listener; unsubscribes at the server after the last one. */
  #unsubscribe(uri: string, listener: object): void {
    if (!this.#subscriptions.remove(uri, listener) || this.#client === undefined) return;
    this.#client.unsubscribe(uri, { timeout: CONNECT_MS }).catch(() => {});
  }

  allowsResource(uri: string): boolean {
    return isListed(uri, this.#options.config.resources);
  }

  /** The number of resources or prompts, for the server's state. */
  count(what: 'resources' | 'prompts', number: number): void {
    this.#counts.set(what, number);
  }

  /** Whether the server is connected and has this capability. */
  has(capability: 'resources' | 'prompts' | 'completions'): boolean {
    return this.#client?.has(capability) === true;
  }

  get timeoutMs(): number {
    return this.#options.config.timeout_ms;
  }

  info(): McpServerInfo {
    const version = this.#client?.serverInfo;
    const held = this.#definitions.filter(({ name }) => this.#options.pins.isHeld(name)).map(({ name }) => name);
    const error = held.length > 0 ? `changed and held until accepted: ${held.join(', ')}` : this.#fault;
    return {
      server_id: this.name,
      name: this.name,
      transport: this.#options.config.url === undefined ? 'stdio' : 'sse',
      status: this.#state,
      tools_count: this.#tools.size,
      ...this.#countOf('resources'),
      ...this.#countOf('prompts'),
      ...optional('mcp_version', this.#client?.revision),
      ...(version !== undefined && {
        server_name: visibleName(version.name),
        server_version: visibleName(version.version),
      }),
      ...(this.#state === 'ready' && { connected_at: this.#connectedAt / 1000 }),
      ...(error !== '' && { error }),
    };
  }

  /** The last lines that were logged about the server, including its stderr, oldest first. */
  get lines(): readonly LogLine[] {
    return this.#recent.lines;
  }

  /** The length of the last complete list, absent before the first; 0 if the server lacks the capability. */
  #countOf(what: 'resources' | 'prompts'): { [Name in `${typeof what}_count`]?: number } {
    if (this.#client === undefined) return {};
    return optional(`${what}_count`, this.has(what) ? this.#counts.get(what) : 0);
  }

  /** Decides again which tools may be used, after one was accepted or the server's list has changed. */
  async refresh(): Promise<void> {
    const { pins } = this.#options;
    const definitions = this.#definitions;
    const tools = new Map<string, Tool>();
    pins.release(this.name, new Set(definitions.map(({ name }) => name)));
    for (const definition of definitions) {
      const wasHeld = pins.isHeld(definition.name);
      const isAdmitted = await pins.admit(definition.name, definition);
      // A newer list has arrived meanwhile, and is handled by its own refresh.
      if (definitions !== this.#definitions) return;
      if (isAdmitted) {
        const known = this.#tools.get(definition.name);
        const isSame =
          known?.definition.description === definition.description &&
          known.definition.input_schema === definition.input;
        tools.set(definition.name, isSame && known !== undefined ? known : this.#toolOf(definition));
      } else {
        // Removed at once, because it must not be called while the other tools are checked.
        this.#tools.delete(definition.name);
        this.#options.onChange();
        // Logged once: the server can cause it at will.
        if (!wasHeld) this.#log.write('warn', { tool: definition.name }, HELD);
      }
    }
    this.#log.flush();
    this.#tools = tools;
    this.#options.onChange();
  }

  /** Closes after the running calls have ended. */
  async retire(): Promise<void> {
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#giveUp();
    const client = await this.#connection;
    if (client !== undefined) await this.#leave(client);
  }

  /** MCP, Session Management: without a DELETE the server keeps the session. An answer is awaited only briefly. */
  async #leave(client: McpClient): Promise<void> {
    if (client.hasSession) {
      const ended = new AbortController();
      const farewell = client.endSession().finally(() => ended.abort());
      await Promise.race([farewell, this.#options.clock.wait(GOODBYE_MS, ended.signal)]).catch(() => {});
    }
    await client.close().catch(() => {});
  }

  /** Runs a request in the current session, and once more in a new one if the server has forgotten it. */
  async #inSession<T>(signal: AbortSignal, request: (client: McpClient) => Promise<T>): Promise<T> {
    const client = await unlessAborted(this.#available(), signal);
    try {
      return await request(client);
    } catch (error) {
      if (signal.aborted || !client.hasSession || !isForgotten(error)) throw error;
      // Closes the connection for all, so that the next attempt makes a new session.
      await client.close().catch(() => {});
      const next = await unlessAborted(this.#available(), signal);
      if (next === client) throw error;
      return request(next);
    }
  }

  async #available(): Promise<McpClient> {
    const left = this.#retryAt - this.#options.clock.elapsed();
    if (this.#client === undefined && left > PATIENCE_MS) throw this.#unavailable(Math.ceil(left / 1000));
    const client = await this.#connection;
    if (client === undefined) throw this.#unavailable(1);
    return client;
  }

  /** Seconds until the next attempt to connect. */
  get retryAfter(): number {
    return Math.max(1, Math.ceil((this.#retryAt - this.#options.clock.elapsed()) / 1000));
  }

  #unavailable(seconds: number): WireRefused {
    const text = `The MCP server ${this.name} ${this.#fault || 'is not available'}; the next attempt is in ${seconds} s.`;
    return new WireRefused('mcp_server_unavailable', text, { retry_after: seconds });
  }

  async #connect(delay: number): Promise<McpClient | undefined> {
    const { clock, log, version } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    this.#giveUp = () => controller.abort();
    this.#retryAt = clock.elapsed() + delay;
    let client: McpClient | undefined;
    try {
      // Awaits in any case, so that a server that is stopped in the same turn is not even started.
      await (delay > 0 ? clock.wait(delay, signal) : undefined);
      signal.throwIfAborted();
      this.#state = 'connecting';
      let since = clock.elapsed();
      let isGone = false;
      const opened = new McpClient({
        transport: await openTransport(this.#options, this.timeoutMs),
        clock,
        version,
        onNotification: (method, params) => this.#heed(method, params, readings),
        onClose: () => {
          isGone = true;
          this.#lost(opened, since);
        },
      });
      client = opened;
      const readings = this.#readingsOf(opened, signal);
      await client.connect({ signal, timeout: CONNECT_MS });
      await readings.readFirst();
      if (isGone) throw new Error('it exited right after its start');
      since = clock.elapsed();
      this.#counts.clear();
      this.#client = client;
      this.#state = 'ready';
      this.#fault = '';
      this.#connectedAt = clock.now().getTime();
      // Not awaited: a server that does not answer these requests can still be used.
      if (client.has('logging')) client.setLoggingLevel('info').catch(() => {});
      // A restarted server has no subscriptions.
      for (const uri of this.#subscriptions.uris()) client.subscribe(uri).catch(() => {});
      return client;
    } catch (error) {
      if (client !== undefined) await this.#leave(client);
      if (this.#isStopped) return undefined;
      this.#state = 'error';
      this.#fault = whyUnreached(error);
      log.warn(
        { mcp_server: this.name, error: whyUngreeted(error, client?.lastWords ?? '') },
        'an MCP server cannot be reached',
      );
      this.#again();
      return undefined;
    }
  }

  #lost(client: McpClient, since: number): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#state = 'disconnected';
    this.#fault = 'has ended';
    if (this.#isStopped) return;
    this.#options.log.warn({ mcp_server: this.name }, 'an MCP server has ended');
    // It worked for a while, so this is a new problem and the backoff starts again.
    if (this.#options.clock.elapsed() - since >= STEADY_MS) this.#backoff.reset();
    this.#again();
  }

  /** Schedules the next attempt, which new requests wait for. */
  #again(): void {
    const next = this.#connect(this.#backoff.next());
    this.#connection = next;
  }

  /** Handles a notification of the server. */
  #heed(method: string, params: JsonObject, readings: ToolReadings): void {
    if (method === 'notifications/tools/list_changed') readings.read().catch(() => {});
    // A log line does not name its call: with two running calls it could reach the wrong caller.
    else if (method === 'notifications/message' && this.#calls.size === 1)
      for (const call of this.#calls) forwardLog(call, params);
    else if (method === 'notifications/resources/list_changed') this.#counts.delete('resources');
    else if (method === 'notifications/prompts/list_changed') this.#counts.delete('prompts');
    else if (method === 'notifications/resources/updated') this.#subscriptions.emit(params);
  }

  #readingsOf(client: McpClient, signal: AbortSignal): ToolReadings {
    return new ToolReadings({
      clock: this.#options.clock,
      signal,
      list: async () => {
        // A restarted server may have lost the capability.
        if (!client.has('tools')) return [];
        return readDefinitions(client, { ...this.#options, timeoutMs: CONNECT_MS, signal });
      },
      take: async (definitions) => {
        this.#definitions = definitions;
        await this.refresh();
      },
    });
  }

  #toolOf(definition: McpDefinition): Tool {
    return mcpTool(this.name, definition, (tool, args, call) => this.#callTool(tool, args, call));
  }

  /** A call that waited for a new connection was made for the tool of the old one, which may have changed. */
  #requireTool(name: string): void {
    if (this.#tools.has(`${this.name}__${name}`)) return;
    const text = `The MCP server ${this.name} was reconnected, and its tool ${JSON.stringify(name)} is missing or has changed.`;
    throw new WireRefused('not_found', text);
  }

  async #callTool(name: string, args: JsonObject, call: ToolCall): Promise<McpResult> {
    const { ending } = call;
    const countdown = new Countdown(this.timeoutMs, this.#deadlines, () => ending.end(tooLate(this.name)));
    const ask = call.ask && countdown.pausing(call.ask);
    this.#calls.add(call);
    try {
      const request = {
        params: { name, arguments: args },
        ending,
        // Progress that arrives after the end is of no use.
        onProgress: call.hasListener ? (progress: JsonObject) => forwardProgress(call, progress) : undefined,
        onElicit: ask && elicited(`${this.name}__${name}`, ask, call.signal),
      };
      // A program has no session that could be forgotten, so the call is sent at once.
      if (this.#client?.hasSession === false) return await this.#client.callTool(request);
      return await this.#inSession(call.signal, (client) => {
        this.#requireTool(name);
        return client.callTool(request);
      });
    } catch (error) {
      if (ending.aborted) throw ending.reason;
      throw refusedBy(this.name, error);
    } finally {
      countdown.cancel();
      this.#calls.delete(call);
      if (this.#calls.size === 0) this.#onIdle();
    }
  }
}

function forwardProgress(call: ToolCall, { progress, total, message }: JsonObject): void {
  const done = typeof progress === 'number' ? progress : 0;
  const percent = typeof total === 'number' && total > 0 ? (100 * done) / total : done;
  call.progress(percent, typeof message === 'string' ? message : '');
}

/** Passes the questions of a server to the person behind the call. */
function elicited(tool: string, ask: Ask, call: AbortSignal): NonNullable<McpRequest['onElicit']> {
  return async (params, withdrawn) => {
    const question = questionFromAcpRequest('elicitation/create', params);
    if (question === undefined) throw new Error('this is not a question');
    const toolQuestion: NewQuestion = { ...question, subject: { type: 'tool_call', name: tool } };
    return acpResultFor(toolQuestion, await ask(toolQuestion, { signal: AbortSignal.any([call, withdrawn]) }));
  };
}

/** A server's name without invisible characters, because models read it. */
function visibleName(text: string): string {
  return String(withoutInvisible(text)).slice(0, LONGEST_NAME);
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [_ in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [_ in Name]?: Value });
}

const HELD = 'a tool has changed and is blocked until an operator accepts it';
const LONGEST_NAME = 128;
const CONNECT_MS = 30_000;
const STEADY_MS = 30_000;
const GOODBYE_MS = 2_000;
const PATIENCE_MS = 1_100;

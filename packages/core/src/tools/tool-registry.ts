import { failure, type JsonObject, nearest } from '@dragoman/protocols';
import type { ToolDefinition, ToolResult } from '@dragoman/protocols/a2e-wire';
import type { Ask } from '../call/ask.ts';
import type { ToolEvent, ToolFilter } from '../call/caller-tools.ts';
import { allows, type Principal } from '../call/principal.ts';
import type { Ending } from '../ending/ending.ts';
import { LimitedLog } from '../ports/limited-log.ts';
import type { Clock, Log } from '../ports/ports.ts';
import { failureOf, Refused, refuse } from '../refusals/refused.ts';
import { FAILED, outcomeOfFailure, SUCCEEDED } from '../runs/run-counts.ts';
import { RunTable } from '../runs/run-table.ts';
import { cutTo } from '../text/cut-to.ts';
import { Countdown } from '../time/countdown.ts';
import { Deadlines } from './deadlines.ts';
import { inLength, MAX_RESULT } from './result-length.ts';
import { RunningTool } from './running-tool.ts';
import type { Tool, ToolOutcome, ToolSource } from './tool.ts';
import { ToolApprovals } from './tool-approvals.ts';
import { LONGEST_MESSAGE, toolFailure, traceOf } from './tool-failure.ts';
import { WireRefused } from './wire/wire-refused.ts';

export interface ToolRegistryOptions {
  readonly clock: Clock;
  /** The table that calls run in. Default: a new one. */
  readonly runs?: RunTable;
  /** Receives the stack of a tool's error, which callers do not see. */
  readonly log?: Log;
  /** The longest timeout that a call may request. Default: 10 minutes. */
  readonly maxTimeoutMs?: number;
  /** Maximum characters of JSON in a result, and in its summary. Longer ones are cut and marked. Default: 1,048,576. */
  readonly maxResult?: number;
}

export interface ToolRequest {
  readonly name: string;
  readonly args: JsonObject;
  readonly principal: Principal;
  /** How many workflows and agents stand between the first caller and this call. Default: 0. */
  readonly hops?: number;
  /** How the tool asks a person; absent if no person can be asked. */
  readonly ask?: Ask | undefined;
  /** Ends when the caller cancels the call. */
  readonly ending: Ending;
  /** Default, also for 0: the longest allowed timeout. */
  readonly timeoutMs?: number;
  readonly onEvent?: ((event: ToolEvent) => void) | undefined;
  /** Toolkits whose tools are hidden. */
  readonly without?: ReadonlySet<string>;
}

type FindTool = Pick<ToolRequest, 'name' | 'principal' | 'without'>;

/** All tools of all sources, and the one way to call them. */
export class ToolRegistry {
  readonly #sources: ToolSource[] = [];
  readonly #clock: Clock;
  readonly #runs: RunTable;
  readonly #log: LimitedLog | undefined;
  readonly #deadlines: Deadlines;
  /** Which calls a person has to approve. */
  readonly approvals = new ToolApprovals();
  readonly #maxTimeoutMs: number;
  readonly #maxResult: number;

  constructor(options: ToolRegistryOptions) {
    const { clock, log, maxTimeoutMs = LONGEST_CALL_MS, maxResult = MAX_RESULT } = options;
    this.#clock = clock;
    this.#runs = options.runs ?? new RunTable({ clock });
    this.#log = log === undefined ? undefined : new LimitedLog({ log, clock });
    this.#deadlines = new Deadlines(clock);
    this.#maxTimeoutMs = maxTimeoutMs;
    this.#maxResult = maxResult;
  }

  /** Adds a source. If two sources have a tool of the same name, that of the earlier source counts. */
  add(source: ToolSource): void {
    this.#sources.push(source);
  }

  /** Resolves when every source has listed its tools once. */
  async ready(): Promise<void> {
    for (const { ready } of this.#sources) await ready;
  }

  /** All tools of all sources, including those hidden by an earlier source's tool of the same name. */
  all(): Tool[] {
    return this.#sources.flatMap((source) => [...source.tools()]);
  }

  /** The tools of this name in all sources. */
  named(name: string): Tool[] {
    return this.#sources.flatMap((source) => source.find(name) ?? []);
  }

  /** All tools, one for each name, regardless of permissions. */
  every(): readonly Tool[] {
    const byName = new Map<string, Tool>();
    for (const tool of this.all()) if (!byName.has(tool.definition.name)) byName.set(tool.definition.name, tool);
    return [...byName.values()];
  }

  /** Increases whenever the tools change. */
  get version(): number {
    return this.#sources.reduce((sum, { version = 1 }) => sum + version, 0);
  }

  /** The tools a caller may use, by name. */
  async list(principal: Principal, filter: ToolFilter = {}): Promise<ToolDefinition[]> {
    await this.ready();
    const { query = '', tags = [], deferred = false, without = NONE } = filter;
    const wanted = query.toLowerCase();
    // Without repeats, because a message may contain a million of them.
    const wantedTags = [...new Set(tags)];
    const found = new Map<string, ToolDefinition>();
    for (const tool of this.all()) {
      const { definition } = tool;
      const { name } = definition;
      if (found.has(name) || !mayUseTool(principal, tool)) continue;
      if (without.has(definition.toolkit ?? '')) continue;
      if (definition.defer_loading && wanted === '' && !deferred) continue;
      if (!wantedTags.every((tag) => definition.tags.includes(tag)) || !mentions(definition, wanted)) continue;
      found.set(name, definition);
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The tool of this name. Rejects with `Refused` if there is no such tool for the caller. */
  async find(request: FindTool): Promise<Tool> {
    const tool = this.#find(request);
    if (tool !== undefined) return tool;
    await this.ready();
    return this.#find(request) ?? this.#absent(request);
  }

  /** Whether calls of a tool on the wire are journaled, for any caller. */
  isJournaled(name: string): boolean {
    for (const source of this.#sources) {
      const tool = source.find(name);
      if (tool !== undefined) return tool.record === 'journal';
    }
    return false;
  }

  /**
   * Calls a tool and returns its result, which may be a failed one; synchronously if the tool is synchronous. Throws or
   * rejects with `Refused` if there is no result.
   */
  call(request: ToolRequest): ToolResult | Promise<ToolResult> {
    const tool = this.#find(request);
    return tool === undefined ? this.#callWhenReady(request) : this.#check(tool, request);
  }

  async #callWhenReady(request: ToolRequest): Promise<ToolResult> {
    return this.#check(await this.find(request), request);
  }

  #check(tool: Tool, request: ToolRequest): ToolResult | Promise<ToolResult> {
    const issues = tool.issuesOf(request.args);
    if (issues.length > 0) refuse('invalid_message', { issues }, `${request.name}: ${issues[0]?.message}`);
    const approved = this.approvals.before(request);
    return approved === undefined ? this.#start(tool, request) : approved.then(() => this.#start(tool, request));
  }

  #start(tool: Tool, request: ToolRequest): ToolResult | Promise<ToolResult> {
    const { name, args, principal, ending, onEvent, hops, ask } = request;
    if (ending.aborted) throw ending.reason;
    this.#runs.requireOpen('tool');
    this.#runs.counts.accepted.tool += 1;
    const startedAt = this.#clock.elapsed();
    const running = new RunningTool(principal, { onEvent, hops, ask });
    const outcome = this.#begin(tool, args, running);
    if (!(outcome instanceof Promise)) return this.#resultOf(name, outcome, running, startedAt);
    return this.#inTime(outcome, request, running).then((found) => this.#resultOf(name, found, running, startedAt));
  }

  #begin(tool: Tool, args: JsonObject, running: RunningTool): ToolOutcome | Promise<ToolOutcome> {
    try {
      return tool.run(args, running);
    } catch (error) {
      const failed = this.#failure(tool.definition.name, error);
      this.#over(running, outcomeOfFailure(failureOf(failed)));
      throw failed;
    }
  }

  #failure(name: string, error: unknown): Error {
    const trace = this.#log === undefined ? undefined : traceOf(error);
    if (trace !== undefined) this.#log?.write('warn', { tool: name, ...trace }, 'a tool threw');
    return toolFailure(error);
  }

  /**
   * Resolves with the outcome, or rejects when the timeout or the caller ends the call first. A tool that ignores this
   * keeps running unobserved.
   */
  #inTime(
    outcome: Promise<ToolOutcome>,
    { name, ending, timeoutMs = 0 }: ToolRequest,
    running: RunningTool,
  ): Promise<ToolOutcome> {
    const limit = timeoutMs > 0 ? Math.min(timeoutMs, this.#maxTimeoutMs) : this.#maxTimeoutMs;
    this.#runs.add(running);
    return new Promise((resolve, reject) => {
      const countdown = new Countdown(limit, this.#deadlines, () => running.end(tooLate(limit)));
      running.countdown = countdown;
      const forget = running.follow(ending);
      let leave = () => {};
      const settle = () => {
        countdown.cancel();
        forget();
        leave();
      };
      const fail = (error: unknown) => {
        settle();
        this.#over(running, outcomeOfFailure(failureOf(error)));
        reject(error);
      };
      outcome.then(
        (found) => {
          if (running.aborted) return;
          settle();
          resolve(found);
        },
        (error: unknown) => {
          // An error after the end of the call is expected, and nobody waits for it.
          if (!running.aborted) fail(this.#failure(name, error));
        },
      );
      // Calls back at once if the call has ended already: a tool may emit too many events before it first waits.
      leave = running.onEnd(() => fail(running.reason));
    });
  }

  /** Ends a call: later events are dropped. */
  #over(running: RunningTool, outcome: string): void {
    running.over();
    this.#runs.remove(running);
    this.#runs.counts.finish('tool', outcome);
  }

  #resultOf(name: string, outcome: ToolOutcome, running: RunningTool, startedAt: number): ToolResult {
    const { success, data, summary = null, error = null, errorCode = null } = outcome;
    this.#over(running, success ? SUCCEEDED : FAILED);
    const shortened = inLength(data, this.#maxResult);
    const brief = summary === null ? NO_SUMMARY : inLength(summary, this.#maxResult);
    return {
      success,
      tool_name: name,
      data: shortened.data,
      summary: brief.data,
      truncated: shortened.truncated || brief.truncated,
      exit_code: null,
      error: error === null ? null : cutTo(error, LONGEST_MESSAGE),
      error_code: errorCode,
      duration_ms: Math.round((this.#clock.elapsed() - startedAt) * 1000) / 1000,
      events: running.kept,
    };
  }

  /** Throws `forbidden` for a name outside of the caller's permissions, whether such a tool exists or not. */
  #find({ name, principal, without = NONE }: FindTool): Tool | undefined {
    for (const source of this.#sources) {
      const tool = source.find(name);
      if (tool === undefined || without.has(tool.definition.toolkit ?? '')) continue;
      if (mayUseTool(principal, tool)) return tool;
    }
    if (allows(principal.permissions.tools, name)) return undefined;
    refuse('forbidden', {
      suggestions: [`ask the operator to add ${JSON.stringify(name)} to permissions.tools`],
    });
  }

  #absent({ name, principal, without = NONE }: FindTool): never {
    for (const source of this.#sources) {
      const why = source.whyNot?.(name);
      if (why === undefined || without.has(why.toolkit)) continue;
      const { retryAfter: retry_after } = why;
      if (retry_after !== undefined) throw new WireRefused('mcp_server_unavailable', why.message, { retry_after });
      refuse('not_found', { suggestions: why.fix === undefined ? [] : [why.fix] }, why.message);
    }
    const others = this.all()
      .filter((tool) => mayUseTool(principal, tool) && !without.has(tool.definition.toolkit ?? ''))
      .map(({ definition }) => definition.name);
    const close = nearest(name, others);
    const suggestions = close === undefined ? [] : [`did you mean ${close}?`];
    refuse('not_found', { suggestions }, `There is no tool ${JSON.stringify(name.slice(0, 192))}.`);
  }
}

export function mayUseTool(principal: Principal, tool: Tool): boolean {
  return tool.mayUse?.(principal) ?? allows(principal.permissions.tools, tool.definition.name);
}

function mentions({ name, description, tags }: ToolDefinition, wanted: string): boolean {
  return [name, description, ...tags].some((text) => text.toLowerCase().includes(wanted));
}

function tooLate(milliseconds: number): Refused {
  return new Refused(failure('timeout', {}, `The tool did not finish within ${milliseconds / 1000} s.`));
}

/** The longest call of a tool or a skill: ten minutes. */
export const LONGEST_CALL_MS = 600_000;
const NO_SUMMARY = { data: null, truncated: false } as const;
const NONE: ReadonlySet<string> = new Set();

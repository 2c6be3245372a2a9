import { hash } from 'node:crypto';
import {
  failure,
  type Issue,
  type JsonObject,
  type JsonSchema,
  nearest,
  newEnvelope,
  newProvenance,
} from '@dragoman/protocols';
import {
  AnswerFold,
  type CallToolParams,
  MCP_TASKS,
  type McpTargetKind,
  REQUEST_ID_META,
  textBlock,
} from '@dragoman/protocols/mcp';
import { Ending } from '../../ending.ts';
import type { Engine } from '../../engine.ts';
import type { Clock, Ids, Log } from '../../ports.ts';
import { Refused, refuse } from '../../refused.ts';
import { frameFrom } from '../../runs/frame-text.ts';
import type { Reading } from '../../runs/reading.ts';
import type { RequestKey, RequestRow } from '../../store/store.ts';
import { ArgumentCheck } from '../../tools/argument-check.ts';
import { unlessAborted } from '../../until-aborted.ts';
import type { ListedTool, McpCatalogue } from './catalogue.ts';
import type { McpCall } from './mcp-call.ts';
import { ANSWER_TOOLS, SEARCH_TOOLS } from './own-tools.ts';
import { ProgressNotes } from './progress-notes.ts';
import { taskOf } from './task-result.ts';
import { searchTools } from './tool-search.ts';

export interface ToolCallsOptions {
  readonly engine: Engine;
  readonly catalogue: McpCatalogue;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** How long a call waits for its answer where it does not say. */
  readonly waitSeconds: number;
  /** How long answers are kept. */
  readonly keepMs: number;
}

type Calling = AsyncGenerator<JsonObject, JsonObject, undefined>;

/** `tools/call`: every call of an agent, a tool or a workflow is a request of the hub, journaled and read like any other. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #checks = new Map<JsonSchema, ArgumentCheck>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  async *call({ name, arguments: args = {} }: CallToolParams, call: McpCall): Calling {
    const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
    if (own !== undefined) {
      const wrong = this.#wrong(own.inputSchema, name, args);
      return wrong ?? (yield* own.run(this, args, call));
    }
    const tool = await this.#options.catalogue.find(call.principal, name, call.agentId);
    return yield* this.#run(tool ?? (await this.#absent(name, call)), args, call);
  }

  async *getAnswer({ request_id: requestId, after = -1, wait_seconds: wait }: JsonObject, call: McpCall): Calling {
    const { runs } = this.#options.engine;
    const key = { owner: call.principal.id, requestId: String(requestId) };
    const known = (await runs.find(key)) ?? noSuchRequest(key);
    const { agent_ref: agent, session_id: sessionId } = known.envelope;
    const fold = new AnswerFold({ kind: targetKindOf(agent?.['id']), requestId: key.requestId, sessionId });
    fold.last = Number(after);
    return yield* this.#read(known.read(Number(after)), { fold, key, wait, call, isOwn: false });
  }

  async *cancelRequest({ request_id: requestId }: JsonObject, { principal }: McpCall): Calling {
    const key = { owner: principal.id, requestId: String(requestId) };
    const known = (await this.#options.engine.runs.find(key)) ?? noSuchRequest(key);
    const cancelled = await known.cancel();
    const text = cancelled ? 'The request is cancelled.' : 'The request had ended already.';
    return { content: [textBlock(text)], structuredContent: { request_id: key.requestId, cancelled } };
  }

  async *search({ query, limit = 10 }: JsonObject, { principal, agentId }: McpCall): Calling {
    const tools = await this.#options.catalogue.list(principal, agentId);
    const found = searchTools(tools, String(query), Number(limit)).map(({ definition }) => definition);
    return { content: [textBlock(JSON.stringify({ tools: found }))], structuredContent: { tools: found } };
  }

  /** What is wrong with the arguments, as a result: a model that sees it can call again. */
  #wrong(schema: JsonSchema, name: string, args: JsonObject): JsonObject | undefined {
    const check = this.#checks.get(schema) ?? new ArgumentCheck(schema, name);
    this.#checks.set(schema, check);
    const issues = check.issuesOf(args);
    return issues.length === 0
      ? undefined
      : { content: [textBlock(issues.map((issue) => worded(name, issue)).join('\n'))], isError: true };
  }

  async *#run(tool: ListedTool, args: JsonObject, call: McpCall): Calling {
    const { kind, input, hasOutputSchema } = tool;
    const wrong = input && this.#wrong(input, tool.name, args);
    if (wrong !== undefined) return wrong;
    const {
      wait_seconds: wait,
      session,
      ...given
    } = input === undefined ? { ...args, wait_seconds: undefined, session: undefined } : args;
    const { agent, method = 'chat.send', params } = tool.request(input === undefined ? args : given);
    const requestId = this.#requestId(call);
    const sessionId = kind !== 'agent' ? null : typeof session === 'string' ? session : `mcp-${nameOf(requestId)}`;
    const { principal, version, client } = call;
    const envelope = newEnvelope({
      request_id: requestId,
      method,
      params,
      agent_ref: { id: agent },
      session_id: sessionId,
      source_agent_id: principal.role === 'agent' ? principal.id : null,
      channel: 'mcp',
      is_stream: true,
      timestamp: this.#options.clock.now().toISOString(),
      provenance: newProvenance({
        source_protocol: 'mcp',
        converter: 'dragoman',
        details: { mcp_version: version, client, tool: tool.name, jsonrpc_id: call.id },
      }),
    });
    const { row, reading } = await this.#open(envelope, call);
    const fold = new AnswerFold({ kind, requestId: row.requestId, sessionId: row.sessionId, hasOutputSchema });
    return yield* this.#read(reading, { fold, key: row, wait, call, isOwn: true });
  }

  /** Resolves when it is recorded, or when it is refused. */
  #open(envelope: Parameters<Engine['handle']>[0], call: McpCall): Promise<{ row: RequestRow; reading: Reading }> {
    const { engine, log } = this.#options;
    const { principal, received, idempotencyKey } = call;
    return new Promise((resolve, reject) => {
      const onAccepted = (row: RequestRow) => resolve({ row, reading });
      const beside = { received, idempotencyKey, onAccepted };
      // Nobody's signal: the work goes on when its reader leaves, unless that is a cancellation.
      const reading = engine.handle(envelope, { principal, signal: NEVER, log, beside });
      reading.ready().catch(reject);
    });
  }

  /** Reads until the end, until the time is over, or until the client cancels or leaves. */
  async *#read(reading: Reading, { fold, key, wait, call, isOwn }: ReadOptions): Calling {
    const { engine, clock, waitSeconds, keepMs } = this.#options;
    const { session, signal, meta } = call;
    const progress = meta['progressToken'] === undefined ? undefined : new ProgressNotes(meta['progressToken'], clock);
    const over = new Ending();
    const cancelTimer = clock.after((typeof wait === 'number' ? wait : waitSeconds) * 1000, () => over.end(TIME_IS_UP));
    const cancel = () => {
      if (isOwn) engine.runs.cancel(key, 'The call was cancelled by its client.');
      over.end(CANCELLED);
    };
    // 2026-07-28, Cancellation: a closed stream cancels. Before, a lost connection did not.
    const leave = session === undefined ? cancel : () => over.end(CANCELLED);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    session?.calls.set(call.id, cancel);
    try {
      for (;;) {
        const rows = await unlessAborted(reading.next(), over);
        for (const { text } of rows) fold.apply(frameFrom(text));
        if (rows.length === 0 || fold.isFinal) return fold.result();
        const note = progress?.of(fold);
        if (note !== undefined) yield note;
      }
    } catch (error) {
      if (error === CANCELLED) throw CANCELLED;
      if (error !== TIME_IS_UP) throw error;
      const isTask = session === undefined && isOwn && declares(call, MCP_TASKS);
      return isTask ? taskOf(key, fold, { now: clock.now(), keepMs }) : fold.result();
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', leave);
      if (session?.calls.get(call.id) === cancel) session.calls.delete(call.id);
    }
  }

  /** The one the caller chose, or one that is the same for the same Idempotency-Key. */
  #requestId({ meta, idempotencyKey }: McpCall): string {
    const given = meta[REQUEST_ID_META];
    if (typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
    return `mcp_${idempotencyKey === undefined ? this.#options.ids.hex() : nameOf(idempotencyKey)}`;
  }

  async #absent(name: string, { principal, agentId }: McpCall): Promise<never> {
    const tools = await this.#options.catalogue.list(principal, agentId);
    const close = nearest(
      name,
      tools.map((tool) => tool.name),
    );
    const suggestions = close === undefined ? [] : [`did you mean ${close}?`];
    const shown = JSON.stringify(name.slice(0, 128));
    throw new Refused(
      failure(
        'invalid_message',
        { suggestions },
        `Unknown tool ${shown}: it does not exist, or this key has no permission for it.`,
      ),
    );
  }
}

interface ReadOptions {
  readonly fold: AnswerFold;
  readonly key: RequestKey & Partial<RequestRow>;
  readonly wait: unknown;
  readonly call: McpCall;
  /** Whether the call made the request, so that its end is that of the request. */
  readonly isOwn: boolean;
}

/** The same for the same text, so that a repeat asks the same. */
function nameOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

export function targetKindOf(target: unknown): McpTargetKind {
  if (target === 'tools') return 'tool';
  return target === 'workflows' ? 'workflow' : 'agent';
}

export function declares({ capabilities }: Pick<McpCall, 'capabilities'>, extension: string): boolean {
  const { extensions } = capabilities;
  return typeof extensions === 'object' && extensions !== null && Object.hasOwn(extensions, extension);
}

function noSuchRequest({ requestId }: RequestKey): never {
  refuse(
    'invalid_message',
    {},
    `There is no request ${JSON.stringify(requestId.slice(0, 128))} of this key, or its answer is no longer kept.`,
  );
}

function worded(tool: string, { message, suggestion }: Issue): string {
  return `${tool}: ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`;
}

type RunOwn = (calls: ToolCalls, args: JsonObject, call: McpCall) => Calling;
const RUN: Readonly<Record<keyof typeof ANSWER_TOOLS | keyof typeof SEARCH_TOOLS, RunOwn>> = {
  get_answer: (calls, args, call) => calls.getAnswer(args, call),
  cancel_request: (calls, args, call) => calls.cancelRequest(args, call),
  search_tools: (calls, args, call) => calls.search(args, call),
  call_tool: (calls, { name, arguments: args }, call) =>
    calls.call({ name: String(name), ...(args !== undefined && { arguments: args as JsonObject }) }, call),
};
const OWN: Readonly<Record<string, { readonly inputSchema: JsonSchema; readonly run: RunOwn }>> = Object.fromEntries(
  Object.entries({ ...ANSWER_TOOLS, ...SEARCH_TOOLS }).map(([name, { inputSchema }]) => [
    name,
    { inputSchema, run: RUN[name as keyof typeof RUN] },
  ]),
);

const NEVER = new AbortController().signal;
const TIME_IS_UP = new Error('the time to wait is over');
/** Nothing more is sent for a call that its client cancelled. */
export const CANCELLED = new Error('the call was cancelled');

import { hash } from 'node:crypto';
import {
  answerFromAcpResponse,
  failure,
  type Issue,
  isObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  nearest,
  newEnvelope,
  newProvenance,
} from '@dragoman/protocols';
import {
  AnswerFold,
  type CallToolParams,
  canElicit,
  elicitation,
  MCP_TASKS,
  REQUEST_ID_META,
  textBlock,
} from '@dragoman/protocols/mcp';
import type { Principal } from '../../call/principal.ts';
import { Ending } from '../../ending/ending.ts';
import { unlessAborted } from '../../ending/until-aborted.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import { failureOf, Refused, refuse } from '../../refusals/refused.ts';
import type { Reading } from '../../runs/reading.ts';
import type { RequestKey, RequestRow } from '../../store/store.ts';
import { Countdown } from '../../time/countdown.ts';
import { ArgumentCheck } from '../../tools/argument-check.ts';
import type { ListedTool, McpCatalogue } from './catalogue.ts';
import type { McpCall } from './mcp-call.ts';
import { ANSWER_TOOLS, SEARCH_TOOLS } from './own-tools.ts';
import { ProgressNotes } from './progress-notes.ts';
import { foldOf } from './request-fold.ts';
import { type QuestionState, RequestStates } from './request-states.ts';
import type { Seals } from './seals.ts';
import { taskOf } from './task-result.ts';
import { searchTools } from './tool-search.ts';

export interface ToolCallsOptions {
  readonly engine: Engine;
  readonly catalogue: McpCatalogue;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** How long a call waits for its answer by default. */
  readonly waitSeconds: number;
  /** How long answers are kept. */
  readonly keepMs: number;
}

type Calling = AsyncGenerator<JsonObject, JsonObject, undefined>;

/** `tools/call`: every call of an agent, a tool or a workflow is a request of the hub, journaled and read like any other. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #states: RequestStates;
  readonly #checks = new Map<JsonSchema, ArgumentCheck>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.#states = new RequestStates(options.seals);
  }

  async *call(params: CallToolParams, given: McpCall): Calling {
    const { name, arguments: args = {}, requestState, inputResponses } = params;
    const call = given.tool === undefined ? { ...given, tool: name } : given;
    if (requestState !== undefined) return yield* this.#retried(requestState, inputResponses, call);
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
    const fold = foldOf(key.requestId, known.envelope);
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

  /** A model may answer a question, unless the question needs the consent of a person. */
  async *answerQuestion(args: JsonObject, call: McpCall): Calling {
    const { request_id: requestId, question_id: questionId, option, content } = args;
    const given = {
      ...(option !== undefined && { option_id: String(option) }),
      ...(isObject(content ?? null) && { content: content as JsonObject }),
    };
    const { questions } = this.#options.engine;
    const state = { requestId: String(requestId), questionId: String(questionId) };
    await questions.answer(state, given, { principal: call.principal, channel: 'mcp', isToolCall: true });
    return yield* this.getAnswer(args, call);
  }

  /** Handles a repeated call, which brings a person's answer, and continues to read its request. */
  async *#retried(requestState: string, inputResponses: JsonObject = {}, call: McpCall): Calling {
    const state = this.#states.open(requestState, call.principal, call.tool ?? '');
    if (state === undefined) refuse('invalid_message', {}, 'requestState is not from an earlier result of this call.');
    const key = { owner: call.principal.id, requestId: state.requestId };
    const response = inputResponses[state.questionId];
    if (response !== undefined) await this.#answer(state, response, call.principal);
    const known = (await this.#options.engine.runs.find(key)) ?? noSuchRequest(key);
    const fold = foldOf(key.requestId, known.envelope);
    return yield* this.#read(known.read(-1), { fold, key, wait: undefined, call, isOwn: true });
  }

  /** Takes a client's response to the question with this id. It may arrive at another node than the call that asks. */
  takeResponse(questionId: string, response: JsonObject, principal: Principal): void {
    this.#answer({ questionId }, response, principal).catch((error) => {
      this.#options.log.warn({ question_id: questionId, error: String(error) }, 'an answer does not fit');
    });
  }

  /** Passes on a person's answer. It is not an error if the question was answered elsewhere meanwhile. */
  async #answer(
    state: Pick<QuestionState, 'questionId'> & Partial<QuestionState>,
    response: Json,
    principal: Principal,
  ): Promise<void> {
    const given = answerFromAcpResponse(response);
    try {
      await this.#options.engine.questions.answer(state, given, { principal, channel: 'mcp' });
    } catch (error) {
      const code = failureOf(error)?.code;
      if (code !== 'conflict' && code !== 'not_found') throw error;
    }
  }

  async *search({ query, limit = 10 }: JsonObject, { principal, agentId }: McpCall): Calling {
    const tools = await this.#options.catalogue.list(principal, agentId);
    const found = searchTools(tools, String(query), Number(limit)).map(({ definition }) => definition);
    return { content: [textBlock(JSON.stringify({ tools: found }))], structuredContent: { tools: found } };
  }

  /** The problems of the arguments as a result, so that a model can correct its call. */
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
    // Every answer of an agent has a session in which it can be continued.
    const sessionId = kind !== 'agent' ? null : typeof session === 'string' ? session : requestId;
    const { principal, version, client } = call;
    const envelope = newEnvelope({
      request_id: requestId,
      method,
      params,
      agent_ref: { id: agent },
      session_id: sessionId,
      source_agent_id: principal.kind === 'agent' ? principal.id : null,
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

  /** Resolves when the request is recorded; rejects when it is refused. */
  #open(envelope: Parameters<Engine['handle']>[0], call: McpCall): Promise<{ row: RequestRow; reading: Reading }> {
    const { engine, log } = this.#options;
    const { principal, received, idempotencyKey } = call;
    return new Promise((resolve, reject) => {
      const onAccepted = (row: RequestRow) => resolve({ row, reading });
      const beside = { received, idempotencyKey, onAccepted };
      // The request continues when its reader leaves; a cancellation ends it explicitly.
      const reading = engine.handle(envelope, { principal, signal: NEVER, log, beside });
      reading.ready().catch(reject);
    });
  }

  /** Reads until the answer ends, the waiting time is over, or the client cancels or leaves. */
  async *#read(reading: Reading, { fold, key, wait, call, isOwn }: ReadOptions): Calling {
    const { engine, clock, waitSeconds, keepMs } = this.#options;
    const { session, signal, cancelling, meta } = call;
    const progress = meta['progressToken'] === undefined ? undefined : new ProgressNotes(meta['progressToken'], clock);
    const over = new Ending();
    const milliseconds = (typeof wait === 'number' ? wait : waitSeconds) * 1000;
    const countdown = new Countdown(milliseconds, clock, () => over.end(TIME_IS_UP));
    let isPaused = false;
    const elicited = new Set<string>();
    const cancel = () => {
      if (isOwn) engine.runs.cancel(key, 'The call was cancelled by its client.');
      over.end(CANCELLED);
    };
    // 2026-07-28, Cancellation: a closed stream cancels the call. In earlier revisions a lost connection does not. A
    // server that stops never cancels.
    const leave = () => {
      if (engine.runs.table.draining.aborted) over.end(new Refused(failure('interrupted', { retry_after: 5 })));
      else if (session === undefined) cancel();
      else over.end(CANCELLED);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    cancelling?.signal.addEventListener('abort', cancel, { once: true });
    // The client may cancel before the request is recorded.
    if (cancelling?.signal.aborted === true) cancel();
    try {
      for (;;) {
        const rows = await unlessAborted(reading.next(), over);
        for (const row of rows) fold.apply(reading.frameOf(row));
        if (rows.length === 0 || fold.isFinal) return fold.result();
        const { question } = fold;
        if (question !== undefined && !elicited.has(question.question_id)) {
          const state = { requestId: key.requestId, questionId: question.question_id };
          if (!canElicit(call.capabilities, question)) return fold.result();
          const request = elicitation(question, call.version);
          // 2026-07-28: the call ends, and the client repeats it with the answer. In earlier revisions, the question is
          // sent on the stream of the call.
          if (session === undefined) return this.#inputRequired(state, request, call);
          elicited.add(question.question_id);
          yield { jsonrpc: '2.0', id: question.question_id, ...request };
        }
        // Time in which the call waits for a person does not count.
        if ((question !== undefined) !== isPaused) {
          isPaused = !isPaused;
          if (isPaused) countdown.pause();
          else countdown.resume();
        }
        const note = progress?.of(fold);
        if (note !== undefined) yield note;
      }
    } catch (error) {
      if (error === CANCELLED) throw CANCELLED;
      if (error !== TIME_IS_UP) throw error;
      const isTask = session === undefined && isOwn && declares(call, MCP_TASKS);
      return isTask ? taskOf(key, fold, { now: clock.now(), keepMs }) : fold.result();
    } finally {
      countdown.cancel();
      signal.removeEventListener('abort', leave);
      cancelling?.signal.removeEventListener('abort', cancel);
    }
  }

  #inputRequired(state: QuestionState, request: JsonObject, { principal, tool = '' }: McpCall): JsonObject {
    return {
      resultType: 'input_required',
      inputRequests: { [state.questionId]: request },
      requestState: this.#states.seal(state, principal, tool),
    };
  }

  /** The id that the caller chose, else an id that is the same for the same Idempotency-Key. */
  #requestId({ meta, idempotencyKey }: McpCall): string {
    const given = meta[REQUEST_ID_META];
    if (typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
    return `mcp_${idempotencyKey === undefined ? this.#options.ids.sortable() : nameOf(idempotencyKey)}`;
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
  /** Whether the call created the request, so that cancelling the call cancels the request. */
  readonly isOwn: boolean;
}

/** Returns the same id for the same text, so that a repeat finds its request. */
function nameOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
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
  answer_question: (calls, args, call) => calls.answerQuestion(args, call),
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
/** The reason of a cancelled call, for which nothing more is sent. */
export const CANCELLED = new Error('the call was cancelled');

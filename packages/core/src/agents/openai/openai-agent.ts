import { type E2AEnvelope, failure, isObject, type JsonObject } from '@dragoman/protocols';
import { addedUsage, CompletionFold, type FunctionCall, type TokenUsage } from '@dragoman/protocols/openai';
import type { Call } from '../../call/call.ts';
import type { Clock } from '../../ports/ports.ts';
import { failureOf } from '../../refusals/refused.ts';
import type { Agent, AgentPart } from '../agent.ts';
import { purposeOf } from '../credential-refs.ts';
import { IdleTimer } from '../idle-timer.ts';
import { callersFunctions, conversationOf, nameIn } from './conversation.ts';
import { DONE, type ModelClient, modelFailed } from './model-client.ts';
import { ModelTools } from './model-tools.ts';

export interface OpenAiAgentOptions {
  readonly id: string;
  readonly client: ModelClient;
  readonly model: string;
  readonly instructions?: string | undefined;
  /** Names of tools, with `*` for any text. */
  readonly tools?: readonly string[] | undefined;
  readonly maxTurns?: number | undefined;
  /** Members of every request to the model server. */
  readonly parameters?: JsonObject | undefined;
  readonly clock: Clock;
  /** How long the model server may send nothing at all. */
  readonly idleMs?: number | undefined;
}

type Parts<Result = void> = AsyncGenerator<AgentPart, Result, undefined>;

/**
 * An agent made of a model behind a server that speaks OpenAI's chat completions.
 *
 *   asking ──text──▶ answered
 *     ▲  └──calls of hub tools──▶ they run ──┐
 *     └───────────at most max_turns──────────┘
 *
 * A call of a function that the caller supplied ends the answer: the caller runs it, and sends its result with the next request.
 */
export class OpenAiAgent implements Agent {
  readonly id: string;
  readonly #options: OpenAiAgentOptions;

  constructor(options: OpenAiAgentOptions) {
    this.id = options.id;
    this.#options = options;
  }

  async *answer(envelope: E2AEnvelope, call: Call): Parts {
    const { clock, idleMs = TEN_MINUTES } = this.#options;
    const idle = new IdleTimer({ clock, milliseconds: idleMs });
    const over = new AbortController();
    const signal = AbortSignal.any([call.signal, idle.signal, over.signal]);
    try {
      yield* this.#turns(envelope, call, { signal, idle });
    } catch (error) {
      call.signal.throwIfAborted();
      const message = `The model server sent nothing for ${idleMs} ms.`;
      const known = idle.signal.aborted ? failure('timeout', {}, message) : failureOf(error);
      if (known === undefined) throw error;
      yield { part: 'failure', failure: known };
    } finally {
      idle.stop();
      // Stops the model when the reader leaves.
      over.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async *#turns(envelope: E2AEnvelope, call: Call, bounds: { signal: AbortSignal; idle: IdleTimer }): Parts {
    const { client, instructions, tools: patterns = [], maxTurns = MAX_TURNS } = this.#options;
    const functions = callersFunctions(envelope);
    const callerNames = new Set(functions.map(nameIn));
    const tools = await ModelTools.open(call.tools, patterns, [...callerNames]);
    const messages = await conversationOf(envelope, call, { instructions, maxHistory: MOST_HISTORY });
    const context = { ...bounds, caller: call.principal.id, purpose: purposeOf(envelope) };
    let text = '';
    let usage: TokenUsage | undefined;
    for (let turn = 1; turn <= maxTurns; turn++) {
      const body = this.#body(envelope, messages, [...tools.functions, ...functions]);
      const fold = yield* streamed(client.complete(body, context));
      text += fold.text;
      usage = addedUsage(usage, fold.usage);
      const calls = withIds(fold.calls, turn);
      const callerCalls = calls.filter(({ name }) => callerNames.has(name));
      if (calls.length === 0 || callerCalls.length > 0)
        return yield completed(text, fold, { calls: callerCalls, usage });
      messages.push({ role: 'assistant', content: fold.text === '' ? null : fold.text, tool_calls: calls.map(toWire) });
      for (const one of calls) messages.push(yield* ran(one, tools, call.signal));
    }
    yield { part: 'failure', failure: tooManyTurns(maxTurns) };
  }

  /** The operator's parameters override the caller's. */
  #body({ params }: E2AEnvelope, messages: readonly JsonObject[], tools: readonly JsonObject[]): JsonObject {
    const { model, parameters = {} } = this.#options;
    const { options, tool_choice: choice } = params;
    return {
      ...(isObject(options) && options),
      ...(tools.length > 0 && { tools: [...tools], ...(choice !== undefined && { tool_choice: choice }) }),
      ...parameters,
      model,
      messages: [...messages],
      stream: true,
      stream_options: { include_usage: true },
    };
  }
}

/** Yields the text of a model as it arrives. Returns the whole answer. */
async function* streamed(events: AsyncIterable<unknown>): Parts<CompletionFold> {
  const fold = new CompletionFold({ mostCharacters: MOST_CHARACTERS, mostCalls: MOST_CALLS });
  let isDone = false;
  for await (const event of events) {
    isDone = event === DONE;
    const { text, reasoning } = fold.apply(event as JsonObject);
    if (fold.error !== undefined) throw modelFailed(`reported an error: ${fold.error}`);
    if (fold.isTooLong) throw modelFailed(`sent more than ${MOST_CHARACTERS} characters in one answer`, {}, false);
    if (fold.hasTooManyCalls) throw modelFailed(`sent more than ${MOST_CALLS} tool calls at once`, {}, false);
    if (reasoning !== '') yield chunk('reasoning', reasoning);
    if (text !== '') yield chunk('text', text);
  }
  if (!isDone && fold.finishReason === undefined) throw modelFailed('ended its answer before it was complete');
  return fold;
}

/** Runs one call. Returns the message with its result for the model. */
async function* ran(call: FunctionCall, tools: ModelTools, signal: AbortSignal): Parts<JsonObject> {
  const about = { tool_call_id: call.id, tool: tools.nameOf(call.name) };
  yield chunk('tool', { ...about, status: 'in_progress', arguments: call.arguments });
  const { ok, text, shown } = await tools.call(call, signal);
  yield chunk('tool', { ...about, status: ok ? 'completed' : 'failed', ...shown });
  return { role: 'tool', tool_call_id: call.id, content: text };
}

function chunk(kind: 'text' | 'reasoning' | 'tool', delta: string | JsonObject): AgentPart {
  return { part: 'chunk', body: { delta_kind: kind, delta } };
}

function completed(
  text: string,
  { finishReason = 'stop' }: CompletionFold,
  { calls, usage }: { readonly calls: readonly FunctionCall[]; readonly usage: TokenUsage | undefined },
): AgentPart {
  const reason = Object.hasOwn(STOP_REASONS, finishReason) ? STOP_REASONS[finishReason] : undefined;
  const result: JsonObject = {
    text,
    ...(calls.length > 0 && { tool_calls: calls.map(toWire) }),
    ...(reason !== undefined && { stop_reason: reason }),
  };
  const body = { result, ...(usage !== undefined && { usage: { ...usage } }) };
  return { part: 'frame', frame: { response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body } };
}

/** Results are matched by id, and some servers send calls without one. */
function withIds(calls: readonly FunctionCall[], turn: number): FunctionCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const id = call.id === '' || seen.has(call.id) ? `call_${turn}_${index}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
}

function toWire({ id, name, arguments: text }: FunctionCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: text } };
}

function tooManyTurns(maxTurns: number) {
  const message = `The model called tools in ${maxTurns} turns and gave no answer.`;
  const suggestions = ['raise max_turns of the agent, or give it fewer tools'];
  return { ...failure('agent_failed', { suggestions }, message), retryable: false };
}

/** The stop reasons of ACP, for ends other than the usual one. */
const STOP_REASONS: Readonly<Record<string, string>> = { length: 'max_tokens', content_filter: 'refusal' };
const MAX_TURNS = 8;
const MOST_HISTORY = 100;
const MOST_CALLS = 32;
const MOST_CHARACTERS = 16 * 1024 * 1024;
const TEN_MINUTES = 600_000;

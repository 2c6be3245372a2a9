import type { E2AResponse } from '../e2a/response.ts';
import type { Json, JsonObject } from '../json.ts';
import type { FunctionCall, TokenUsage } from './completion-fold.ts';
import { type AnswerFinish, HubAnswer } from './hub-answer.ts';

export interface ResponseAnswerOptions {
  /** The id of the request, which is that of the response. */
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly previousId?: string | undefined;
  readonly instructions?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/**
 * The frames of an answer as a response of OpenAI's. The same frames always give the same events with the same numbers,
 * so that a reader can continue after any of them, during the answer and after any restart.
 */
export class ResponseAnswer {
  readonly #options: ResponseAnswerOptions;
  readonly #answer = new HubAnswer();
  readonly #done: JsonObject[] = [];
  #open: OpenItem | undefined;
  #number = 0;

  constructor(options: ResponseAnswerOptions) {
    this.#options = options;
  }

  get end(): AnswerFinish | undefined {
    return this.#answer.end;
  }

  /** The output before the first frame. */
  first(): JsonObject[] {
    return [
      this.#event('response.created', { response: this.response() }),
      this.#event('response.in_progress', { response: this.response() }),
    ];
  }

  /** The events of one more frame. */
  events(frame: E2AResponse): JsonObject[] {
    const { text, reasoning, end } = this.#answer.apply(frame);
    const events: JsonObject[] = [];
    if (reasoning !== '') events.push(...this.#add('reasoning', reasoning));
    if (text !== '') events.push(...this.#add('message', text));
    if (end === undefined) return events;
    events.push(...this.#close());
    for (const call of end.calls) events.push(...this.#call(call));
    const response = this.response();
    return [...events, this.#event(`response.${ENDS[String(response['status'])] ?? 'failed'}`, { response })];
  }

  /** The response in its current state. */
  response(): JsonObject {
    const { id, model, created, previousId, instructions, metadata = {} } = this.#options;
    const { end } = this.#answer;
    const status = end === undefined ? 'in_progress' : STATUS[end.reason];
    const { code = null, message = null } = end?.error?.error ?? {};
    const incomplete = end?.reason === 'length' ? 'max_output_tokens' : 'content_filter';
    return {
      id,
      object: 'response',
      created_at: created,
      status,
      error: status === 'failed' ? { code, message } : null,
      incomplete_details: status === 'incomplete' ? { reason: incomplete } : null,
      instructions: instructions ?? null,
      metadata,
      model,
      output: [...this.#done, ...(this.#open === undefined ? [] : [itemOf(this.#open, 'in_progress')])],
      parallel_tool_calls: true,
      previous_response_id: previousId ?? null,
      temperature: null,
      tool_choice: 'auto',
      tools: [],
      top_p: null,
      usage: responseUsage(end?.usage),
    };
  }

  #add(type: OpenItem['type'], delta: string): JsonObject[] {
    const events = this.#open?.type === type ? [] : [...this.#close(), ...this.#begin(type)];
    if (this.#open === undefined) throw new Error('no item is open');
    this.#open.text += delta;
    const more = type === 'message' ? { delta, logprobs: [] } : { delta };
    events.push(this.#event(`response.${NAMES[type].text}.delta`, { ...this.#at(), content_index: 0, ...more }));
    return events;
  }

  #begin(type: OpenItem['type']): JsonObject[] {
    const id = `${type === 'message' ? 'msg' : 'rs'}_${this.#options.id}_${this.#done.length}`;
    this.#open = { type, id, text: '' };
    const item = { ...itemOf(this.#open, 'in_progress'), content: [] };
    return [
      this.#event('response.output_item.added', { output_index: this.#done.length, item }),
      this.#event('response.content_part.added', { ...this.#at(), content_index: 0, part: partOf(this.#open) }),
    ];
  }

  #close(): JsonObject[] {
    const open = this.#open;
    if (open === undefined) return [];
    const at = { ...this.#at(), content_index: 0 };
    const item = itemOf(open, 'completed');
    const more = open.type === 'message' ? { text: open.text, logprobs: [] } : { text: open.text };
    const events = [
      this.#event(`response.${NAMES[open.type].text}.done`, { ...at, ...more }),
      this.#event('response.content_part.done', { ...at, part: partOf(open) }),
      this.#event('response.output_item.done', { output_index: this.#done.length, item }),
    ];
    this.#done.push(item);
    this.#open = undefined;
    return events;
  }

  #call({ id: call_id, name, arguments: args }: FunctionCall): JsonObject[] {
    const output_index = this.#done.length;
    const id = `fc_${this.#options.id}_${output_index}`;
    const item = { type: 'function_call', id, call_id, name, arguments: args, status: 'completed' };
    const at = { item_id: id, output_index };
    this.#done.push(item);
    return [
      this.#event('response.output_item.added', {
        output_index,
        item: { ...item, arguments: '', status: 'in_progress' },
      }),
      this.#event('response.function_call_arguments.delta', { ...at, delta: args }),
      this.#event('response.function_call_arguments.done', { ...at, name, arguments: args }),
      this.#event('response.output_item.done', { output_index, item }),
    ];
  }

  #at(): { readonly item_id: string; readonly output_index: number } {
    return { item_id: this.#open?.id ?? '', output_index: this.#done.length };
  }

  #event(type: string, members: JsonObject): JsonObject {
    return { type, sequence_number: this.#number++, ...members };
  }
}

interface OpenItem {
  readonly type: 'message' | 'reasoning';
  readonly id: string;
  text: string;
}

function itemOf(item: OpenItem, status: string): JsonObject {
  const content = [partOf(item)];
  if (item.type === 'reasoning') return { type: 'reasoning', id: item.id, summary: [], content, status };
  return { type: 'message', id: item.id, role: 'assistant', status, content };
}

function partOf({ type, text }: OpenItem): JsonObject {
  return type === 'message'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'reasoning_text', text };
}

function responseUsage(usage: TokenUsage | undefined): Json {
  if (usage === undefined) return null;
  const { input_tokens, output_tokens, total_tokens } = usage;
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: usage.cached_input_tokens ?? 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens,
  };
}

const NAMES = { message: { text: 'output_text' }, reasoning: { text: 'reasoning_text' } } as const;
const STATUS = {
  stop: 'completed',
  tool_calls: 'completed',
  length: 'incomplete',
  content_filter: 'incomplete',
  error: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<AnswerFinish['reason'], string>;
/**
 * The last event by the status of a response. All others end with `response.failed`: OpenAI has no event for a
 * cancelled one.
 */
const ENDS: Readonly<Record<string, string>> = { completed: 'completed', incomplete: 'incomplete' };

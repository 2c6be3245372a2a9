import type { E2AResponse } from '../e2a/response.ts';
import type { Json, JsonObject } from '../json.ts';
import type { TokenUsage } from './completion-fold.ts';
import type { OpenAiError } from './errors.ts';
import { type AnswerFinish, chatToolCall, HubAnswer } from './hub-answer.ts';

export interface ChatAnswerOptions {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly includeUsage?: boolean | undefined;
}

/** The frames of an answer as a chat completion: its chunks, or all of it. */
export class ChatAnswer {
  readonly #options: ChatAnswerOptions;
  readonly #answer = new HubAnswer();

  constructor(options: ChatAnswerOptions) {
    this.#options = options;
  }

  get end(): AnswerFinish | undefined {
    return this.#answer.end;
  }

  /** The output before the first frame. */
  first(): JsonObject {
    return this.#chunk({ role: 'assistant', content: '' });
  }

  /** The chunks for one more frame. An answer that fails ends with OpenAI's error object. */
  chunks(frame: E2AResponse): JsonObject[] {
    const { text, reasoning, end } = this.#answer.apply(frame);
    const chunks: JsonObject[] = [];
    if (reasoning !== '') chunks.push(this.#chunk({ reasoning_content: reasoning }));
    if (text !== '') chunks.push(this.#chunk({ content: text }));
    if (end === undefined) return chunks;
    if (end.error !== undefined) return [...chunks, { error: end.error.error }];
    if (end.calls.length > 0) {
      chunks.push(this.#chunk({ tool_calls: end.calls.map((call, index) => ({ index, ...chatToolCall(call) })) }));
    }
    chunks.push(this.#chunk({}, finishReason(end)));
    if (this.#options.includeUsage === true)
      chunks.push({ ...this.#head(CHUNK), choices: [], usage: chatUsage(end.usage) });
    return chunks;
  }

  whole(): JsonObject | OpenAiError {
    const { text, reasoning, end } = this.#answer;
    if (end === undefined) throw new Error('the answer is not over');
    if (end.error !== undefined) return end.error;
    const message = {
      role: 'assistant',
      content: text === '' && end.calls.length > 0 ? null : text,
      refusal: null,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(end.calls.length > 0 && { tool_calls: end.calls.map(chatToolCall) }),
    };
    const usage = chatUsage(end.usage);
    return {
      ...this.#head('chat.completion'),
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(end) }],
      ...(usage !== null && { usage }),
    };
  }

  #chunk(delta: JsonObject, finish: string | null = null): JsonObject {
    return { ...this.#head(CHUNK), choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] };
  }

  #head(object: string): JsonObject {
    const { id, model, created } = this.#options;
    return { id, object, created, model };
  }
}

function finishReason({ reason }: AnswerFinish): string {
  return reason === 'error' || reason === 'cancelled' ? 'stop' : reason;
}

function chatUsage(usage: TokenUsage | undefined): Json {
  if (usage === undefined) return null;
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens, total_tokens } = usage;
  const { cached_input_tokens: cached_tokens, reasoning_tokens } = usage;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    ...(cached_tokens !== undefined && { prompt_tokens_details: { cached_tokens } }),
    ...(reasoning_tokens !== undefined && { completion_tokens_details: { reasoning_tokens } }),
  };
}

const CHUNK = 'chat.completion.chunk';

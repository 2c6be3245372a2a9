import { textOfResult } from '../e2a/adapters/result-text.ts';
import { answerEnd } from '../e2a/answer-end.ts';
import { questionText } from '../e2a/question-text.ts';
import { questionIn } from '../e2a/read-question.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { FunctionCall, TokenUsage } from './completion-fold.ts';
import { type OpenAiError, openAiErrorIn } from './errors.ts';

/** The changes of one frame to an answer. */
export interface AnswerDelta {
  readonly text: string;
  readonly reasoning: string;
  readonly end?: AnswerFinish;
}

/** How an answer ended. */
export interface AnswerFinish {
  readonly reason: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error' | 'cancelled';
  readonly calls: readonly FunctionCall[];
  readonly usage: TokenUsage | undefined;
  readonly error: OpenAiError | undefined;
}

/** The text of an answer, frame by frame. Streamed text that the result repeats is sent once. */
export class HubAnswer {
  text = '';
  reasoning = '';
  end: AnswerFinish | undefined;

  apply(frame: E2AResponse): AnswerDelta {
    if (frame.is_final) return this.#finish(frame);
    const question = questionIn(frame);
    // A person answers it elsewhere; the text explains the pause to the client.
    if (question !== undefined) {
      return this.#add(`${questionText(question)}\n(dragoman questions answer ${question.question_id})\n\n`, 'text');
    }
    const { delta_kind: kind, delta } = frame.body;
    if (frame.response_kind !== 'e2a.chunk' || typeof delta !== 'string') return NOTHING;
    return kind === 'text' || kind === 'reasoning' ? this.#add(delta, kind) : NOTHING;
  }

  #add(text: string, kind: 'text' | 'reasoning'): AnswerDelta {
    this[kind] += text;
    return { ...NOTHING, [kind]: text };
  }

  #finish(frame: E2AResponse): AnswerDelta {
    const { body, response_kind: kind } = frame;
    const outcome = answerEnd(frame);
    const isError = kind === 'e2a.error' || frame.status === 'failed';
    const result = isError ? null : kind === 'e2a.complete' ? (body['result'] ?? null) : body;
    const calls = callsIn(result);
    const text = isError ? '' : this.#beyond(result, calls.length > 0);
    this.text += text;
    const error = isError ? openAiErrorIn(body) : undefined;
    const reason = outcome === 'cancelled' ? 'cancelled' : isError ? 'error' : reasonOf(result, calls);
    this.end = { reason, calls, usage: usageOf(body['usage']), error };
    return { text: text, reasoning: '', end: this.end };
  }

  #beyond(result: Json, hasCalls: boolean): string {
    const whole = textOfResult(result) ?? (this.text === '' && !hasCalls ? textFor(result) : '');
    if (whole.startsWith(this.text)) return whole.slice(this.text.length);
    return whole === '' || this.text.startsWith(whole) ? '' : `\n\n${whole}`;
  }
}

/** A result without text, as JSON; empty if it has nothing to show. */
function textFor(result: Json): string {
  if (result === null || (isObject(result) && typeof result['text'] === 'string')) return '';
  return isObject(result) && Object.keys(result).length === 0 ? '' : JSON.stringify(result);
}

function reasonOf(result: Json, calls: readonly FunctionCall[]): AnswerFinish['reason'] {
  if (calls.length > 0) return 'tool_calls';
  const reason = isObject(result) ? result['stop_reason'] : undefined;
  if (reason === 'max_tokens') return 'length';
  return reason === 'refusal' ? 'content_filter' : 'stop';
}

/** Calls of the caller's own functions, as an agent puts them into its result. */
function callsIn(result: Json): FunctionCall[] {
  const calls = isObject(result) ? result['tool_calls'] : undefined;
  return (Array.isArray(calls) ? calls : []).flatMap((call, index) => {
    const made = isObject(call) && isObject(call['function']) ? call['function'] : undefined;
    if (made === undefined || typeof made['name'] !== 'string') return [];
    const { name, arguments: args = {} } = made;
    const id = isObject(call) && typeof call['id'] === 'string' ? call['id'] : `call_${index}`;
    return [{ id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }];
  });
}

function usageOf(usage: Json | undefined): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage;
  const { cached_input_tokens: cached, reasoning_tokens: reasoning } = usage;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: typeof total === 'number' ? total : input + output,
    ...(typeof cached === 'number' && { cached_input_tokens: cached }),
    ...(typeof reasoning === 'number' && { reasoning_tokens: reasoning }),
  };
}

/** A call in the form of chat completions. */
export function chatToolCall({ id, name, arguments: args }: FunctionCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } };
}

const NOTHING: AnswerDelta = { text: '', reasoning: '' };

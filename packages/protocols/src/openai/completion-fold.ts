import { isObject, type Json, type JsonObject } from '../json.ts';

/** The changes of one part of a model's answer. */
export interface CompletionDelta {
  readonly text: string;
  readonly reasoning: string;
}

/** A function call of the model: its arguments are text that should be JSON. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Tokens, by what they were used for. */
export interface TokenUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly cached_input_tokens?: number;
  readonly reasoning_tokens?: number;
}

/**
 * The answer of a model, from the chunks of a streamed chat completion or from a whole one. Servers differ in details:
 * the reasoning has two names, some give all tool calls the index 0, and some send arguments as an object.
 */
export class CompletionFold {
  text = '';
  reasoning = '';
  finishReason: string | undefined;
  usage: TokenUsage | undefined;
  /** An error instead of an answer. */
  error: string | undefined;
  readonly #calls: { index: number; id: string; name: string; arguments: string }[] = [];
  readonly #mostCharacters: number;
  readonly #mostCalls: number;
  #characters = 0;

  constructor({ mostCharacters = Number.POSITIVE_INFINITY, mostCalls = Number.POSITIVE_INFINITY }: FoldLimits = {}) {
    this.#mostCharacters = mostCharacters;
    this.#mostCalls = mostCalls;
  }

  /** Whether the answer exceeds the length limit. */
  get isTooLong(): boolean {
    return this.#characters > this.#mostCharacters;
  }

  /** Whether the answer exceeds the limit of calls; further calls are dropped. */
  get hasTooManyCalls(): boolean {
    return this.#calls.length > this.#mostCalls;
  }

  get calls(): readonly FunctionCall[] {
    return this.#calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text }));
  }

  apply(event: Json): CompletionDelta {
    if (!isObject(event)) return NOTHING;
    if (event['error'] !== undefined && event['error'] !== null) this.error = errorText(event['error']);
    this.usage = usageIn(event['usage']) ?? this.usage;
    const choices = event['choices'];
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isObject(choice)) return NOTHING;
    if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason'];
    const delta = choice['delta'] ?? choice['message'];
    return isObject(delta) ? this.#add(delta) : NOTHING;
  }

  #add(delta: JsonObject): CompletionDelta {
    const text = textIn(delta['content']) || textIn(delta['refusal']);
    const reasoning = textIn(delta['reasoning_content']) || textIn(delta['reasoning']);
    this.text += text;
    this.reasoning += reasoning;
    this.#characters += text.length + reasoning.length;
    const { tool_calls: calls } = delta;
    for (const [position, call] of Array.isArray(calls) ? calls.entries() : []) {
      if (this.hasTooManyCalls) break;
      this.#addCall(call, position);
    }
    return { text, reasoning };
  }

  #addCall(call: Json, position: number): void {
    if (!isObject(call)) return;
    const made = isObject(call['function']) ? call['function'] : {};
    const index = typeof call['index'] === 'number' ? call['index'] : position;
    const id = textIn(call['id']);
    const args = made['arguments'];
    const text = isObject(args) ? JSON.stringify(args) : textIn(args);
    this.#characters += text.length + 1;
    const known = this.#calls.findLast((one) => one.index === index);
    if (known === undefined || (id !== '' && known.id !== '' && id !== known.id)) {
      this.#calls.push({ index, id, name: textIn(made['name']), arguments: text });
      return;
    }
    known.id ||= id;
    known.name ||= textIn(made['name']);
    known.arguments += text;
  }
}

interface FoldLimits {
  readonly mostCharacters?: number;
  readonly mostCalls?: number;
}

/** The sum of two usages; `undefined` if neither is known. */
export function addedUsage(first: TokenUsage | undefined, second: TokenUsage | undefined): TokenUsage | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const cached = (first.cached_input_tokens ?? 0) + (second.cached_input_tokens ?? 0);
  const reasoning = (first.reasoning_tokens ?? 0) + (second.reasoning_tokens ?? 0);
  return {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    total_tokens: first.total_tokens + second.total_tokens,
    ...(cached > 0 && { cached_input_tokens: cached }),
    ...(reasoning > 0 && { reasoning_tokens: reasoning }),
  };
}

/** The message in an error of OpenAI's shape, or of a similar one. */
export function errorText(error: Json): string {
  if (typeof error === 'string') return error;
  const inner = isObject(error) ? (error['message'] ?? error['error'] ?? error['detail']) : undefined;
  return inner === undefined || inner === null ? JSON.stringify(error) : errorText(inner);
}

function usageIn(usage: Json | undefined): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = countIn(usage['prompt_tokens']);
  const output = countIn(usage['completion_tokens']);
  if (input === undefined && output === undefined) return undefined;
  const cached = countIn(memberOf(usage['prompt_tokens_details'], 'cached_tokens'));
  const reasoning = countIn(memberOf(usage['completion_tokens_details'], 'reasoning_tokens'));
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    total_tokens: countIn(usage['total_tokens']) ?? (input ?? 0) + (output ?? 0),
    ...(cached !== undefined && cached > 0 && { cached_input_tokens: cached }),
    ...(reasoning !== undefined && reasoning > 0 && { reasoning_tokens: reasoning }),
  };
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}

function countIn(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

const NOTHING: CompletionDelta = { text: '', reasoning: '' };

import { type E2AEnvelope, newEnvelope } from '../e2a/envelope.ts';
import { newProvenance } from '../e2a/provenance.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { ChatCompletionRequest, CreateResponseRequest } from './shapes.ts';

/** A request of either API, in the form of chat completions. */
export interface ChatAsk {
  readonly model: string;
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly toolChoice: Json | undefined;
  readonly options: JsonObject;
  readonly user: string | undefined;
  readonly metadata: JsonObject;
}

export interface ChatDetails {
  readonly requestId: string;
  /** The session that this server keeps; null if the request has the whole conversation. */
  readonly sessionId: string | null;
  readonly api: 'chat.completions' | 'responses';
  /** Whether the work ends when its reader disconnects, because the answer cannot be read again. */
  readonly endsUnread: boolean;
  readonly sourceAgentId: string | null;
  readonly now: Date;
}

export function chatAskOf(request: ChatCompletionRequest): ChatAsk {
  const body = request as unknown as JsonObject;
  const { model, messages, tools, tool_choice: toolChoice, user, metadata } = request;
  return {
    model,
    messages: messages as unknown as JsonObject[],
    tools: (tools ?? []) as JsonObject[],
    toolChoice: toolChoice as Json | undefined,
    options: optionsIn(body, CHAT_OPTIONS),
    user: user ?? undefined,
    metadata: (metadata ?? {}) as JsonObject,
  };
}

/** The items of a response request as messages. Items of other kinds, such as reasoning, are left out. */
export function responseAskOf(request: CreateResponseRequest): ChatAsk {
  const { model, input, instructions, tools, tool_choice: toolChoice, user, metadata } = request;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input as JsonObject[]);
  const system = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  const { max_output_tokens: most, ...options } = optionsIn(request as unknown as JsonObject, RESPONSE_OPTIONS);
  return {
    model,
    messages: [...system, ...items.flatMap(messageOf)],
    tools: ((tools ?? []) as JsonObject[]).flatMap(functionOf),
    toolChoice: choiceOf(toolChoice as Json | undefined),
    options: { ...options, ...(most !== undefined && { max_completion_tokens: most }) },
    user: user ?? undefined,
    metadata: (metadata ?? {}) as JsonObject,
  };
}

/**
 * A request to an agent. `content` is the last user message, for agents that read one text. `messages` is for agents
 * that pass them on to a model. In a session that this server keeps, only system messages and those from the last user
 * message on are sent.
 */
export function chatEnvelope(ask: ChatAsk, details: ChatDetails): E2AEnvelope {
  const { requestId, sessionId, api, endsUnread, sourceAgentId, now } = details;
  const last = ask.messages.findLastIndex(({ role }) => role === 'user');
  const isKept = sessionId !== null && last !== -1;
  const messages = ask.messages.filter(({ role }, index) => !isKept || index >= last || SYSTEM.has(String(role)));
  const latest = ask.messages[last] ?? ask.messages.at(-1);
  const blocks = blocksIn(latest?.['content']);
  return newEnvelope({
    request_id: requestId,
    method: 'chat.send',
    agent_ref: { id: ask.model },
    session_id: sessionId,
    user_id: ask.user ?? null,
    source_agent_id: sourceAgentId,
    channel: 'openai',
    is_stream: true,
    timestamp: now.toISOString(),
    params: {
      content: textIn(latest?.['content']),
      ...(blocks.length > 0 && { content_blocks: blocks }),
      messages,
      ...(ask.tools.length > 0 && { tools: [...ask.tools] }),
      ...(ask.toolChoice !== undefined && ask.toolChoice !== null && { tool_choice: ask.toolChoice }),
      ...(Object.keys(ask.options).length > 0 && { options: ask.options }),
    },
    ...(endsUnread && { channel_context: { cancel_on_disconnect: true } }),
    provenance: newProvenance({
      source_protocol: 'openai',
      converter: 'dragoman',
      converted_at: now.toISOString(),
      details: { api, ...(Object.keys(ask.metadata).length > 0 && { metadata: ask.metadata }) },
    }),
  });
}

/** The text of a message with any parts. */
function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content : [];
  return parts
    .flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n\n');
}

/** Text and images in the hub's form, if there is more than text. */
function blocksIn(content: Json | undefined): JsonObject[] {
  const blocks = (Array.isArray(content) ? content : []).flatMap((part): JsonObject[] => {
    if (!isObject(part)) return [];
    if (typeof part['text'] === 'string') return [{ type: 'text', text: part['text'] }];
    const { image_url: image } = part;
    const url = isObject(image) ? image['url'] : image;
    if (typeof url !== 'string') return [];
    const [, mime, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    if (mime !== undefined && data !== undefined) return [{ type: 'image', mime_type: mime, data }];
    return [{ type: 'image', uri: url }];
  });
  return blocks.some(({ type }) => type === 'image') ? blocks : [];
}

function messageOf(item: JsonObject): JsonObject[] {
  const { type = 'message', role, content, call_id: callId, name, arguments: args, output } = item;
  if (type === 'function_call') {
    const call = { id: callId ?? '', type: 'function', function: { name: name ?? '', arguments: args ?? '{}' } };
    return [{ role: 'assistant', content: null, tool_calls: [call] }];
  }
  if (type === 'function_call_output') {
    return [
      { role: 'tool', tool_call_id: callId ?? '', content: typeof output === 'string' ? output : textIn(output) },
    ];
  }
  if (type !== 'message' || typeof role !== 'string') return [];
  return [{ role, content: Array.isArray(content) ? content.flatMap(chatPart) : (content ?? '') }];
}

function chatPart(part: Json): JsonObject[] {
  if (!isObject(part)) return [];
  const { type, text, image_url: url } = part;
  if (typeof text === 'string') return [{ type: 'text', text }];
  return type === 'input_image' && typeof url === 'string' ? [{ type: 'image_url', image_url: { url } }] : [];
}

function functionOf(tool: JsonObject): JsonObject[] {
  const { type, name, description, parameters, strict } = tool;
  if (type !== 'function' || name === undefined) return [];
  const made: JsonObject = {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
  };
  return [{ type: 'function', function: made }];
}

function choiceOf(choice: Json | undefined): Json | undefined {
  if (!isObject(choice) || choice['type'] !== 'function') return choice;
  return { type: 'function', function: { name: choice['name'] ?? '' } };
}

function optionsIn(body: JsonObject, names: readonly string[]): JsonObject {
  const given = names.filter((name) => body[name] !== undefined && body[name] !== null);
  return Object.fromEntries(given.map((name) => [name, body[name] as Json]));
}

const SYSTEM: ReadonlySet<string> = new Set(['system', 'developer']);
/** The model parameters that a caller may set; the agent decides all others. */
const CHAT_OPTIONS = [
  'frequency_penalty',
  'max_completion_tokens',
  'max_tokens',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'response_format',
  'seed',
  'stop',
  'temperature',
  'top_p',
  'verbosity',
];
const RESPONSE_OPTIONS = ['max_output_tokens', 'parallel_tool_calls', 'temperature', 'top_p'];

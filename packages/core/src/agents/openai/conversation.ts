import { type E2AEnvelope, isObject, type Json, type JsonObject, textOfResult } from '@dragoman/protocols';
import type { Call, EarlierTurn } from '../../call/call.ts';

/**
 * The messages for a model: the operator's instructions, the earlier messages of the session, and the caller's request.
 * A request may have several messages, as those of OpenAI clients do; its system messages come before the session's
 * messages.
 */
export async function conversationOf(
  envelope: E2AEnvelope,
  call: Call,
  { instructions, maxHistory }: { readonly instructions?: string | undefined; readonly maxHistory: number },
): Promise<JsonObject[]> {
  const first = instructions === undefined ? [] : [{ role: 'system', content: instructions }];
  const given = messagesIn(envelope.params['messages']);
  const isSession = envelope.session_id !== null && call.history !== undefined;
  const history = isSession ? ((await call.history?.({ limit: maxHistory, maxBytes: MOST_BYTES })) ?? []) : [];
  const before = history.flatMap(messageOf);
  if (given === undefined) return [...first, ...before, { role: 'user', content: contentOf(envelope.params) }];
  const system = given.filter(isSystem);
  return [...first, ...system, ...before, ...given.filter((message) => !isSystem(message))];
}

/** The functions that the caller runs itself, as it sent them. */
export function callersFunctions({ params }: E2AEnvelope): JsonObject[] {
  const { tools } = params;
  return (Array.isArray(tools) ? tools : []).filter(
    (tool): tool is JsonObject => isObject(tool) && isObject(tool['function']) && nameIn(tool) !== '',
  );
}

export function nameIn(tool: JsonObject): string {
  const made = tool['function'];
  return isObject(made) && typeof made['name'] === 'string' ? made['name'] : '';
}

/** `undefined` unless every entry is a message of chat completions. */
function messagesIn(value: Json | undefined): JsonObject[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const messages = value.filter(
    (one): one is JsonObject => isObject(one) && typeof one['role'] === 'string' && ROLES.has(one['role']),
  );
  return messages.length === value.length ? messages : undefined;
}

function isSystem({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer';
}

function messageOf({ role, content }: EarlierTurn): JsonObject[] {
  const text = textOfResult(content) ?? (isObject(content) && 'code' in content ? '' : JSON.stringify(content));
  // A failed answer has no text to continue from.
  return text === '' ? [] : [{ role: role === 'caller' ? 'user' : 'assistant', content: text }];
}

/** Text and pictures of a request, in the shape of chat completions. */
function contentOf(params: JsonObject): Json {
  const { content, content_blocks: blocks, text, query, prompt } = params;
  const parts = [content, blocks, prompt].find((one) => Array.isArray(one));
  const converted = Array.isArray(parts) ? parts.flatMap(partOf) : [];
  if (converted.some((part) => part['type'] === 'image_url')) return converted;
  const plain = [content, text, query, prompt].find((one) => typeof one === 'string');
  if (plain !== undefined) return plain;
  if (converted.length > 0) return converted.map((part) => String(part['text'])).join('\n\n');
  return JSON.stringify(params);
}

function partOf(block: Json): JsonObject[] {
  if (!isObject(block)) return [];
  const { type, text, data, uri, image_url: imageUrl } = block;
  const mime = block['mime_type'] ?? block['mimeType'];
  if (typeof text === 'string') return [{ type: 'text', text }];
  if (type === 'image_url' && imageUrl !== undefined) return [{ type, image_url: imageUrl }];
  if (type !== 'image') return [];
  if (typeof data === 'string') return [image(`data:${String(mime ?? 'image/png')};base64,${data}`)];
  return typeof uri === 'string' ? [image(uri)] : [];
}

function image(url: string): JsonObject {
  return { type: 'image_url', image_url: { url } };
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);
const MOST_BYTES = 1024 * 1024;

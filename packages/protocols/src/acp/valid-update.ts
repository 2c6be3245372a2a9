import { ACP_TOOL_KINDS, acpToolStatus } from '../e2a/adapters/acp-tool-call.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';

/**
 * An agent's own `session/update` as any ACP client can read it; `undefined` if it is invalid. A client may lose a
 * whole message because of one member that it cannot read, so such members are left out. The options of an agent's own
 * configuration are left out too: a list of them would replace the client's list.
 */
export function validAcpUpdate(update: JsonObject): JsonObject | undefined {
  const { sessionUpdate: kind } = update;
  const valid = typeof kind === 'string' && Object.hasOwn(UPDATES, kind) ? UPDATES[kind]?.(update) : undefined;
  return valid && { sessionUpdate: kind as string, ...valid, ...metaOf(update) };
}

type Reader = (update: JsonObject) => JsonObject | undefined;

const UPDATES: Readonly<Record<string, Reader>> = {
  user_message_chunk: chunk,
  agent_message_chunk: chunk,
  agent_thought_chunk: chunk,
  tool_call: (update) => {
    const call = toolCall(update);
    return call && { ...call, title: typeof update['title'] === 'string' ? update['title'] : 'tool' };
  },
  tool_call_update: toolCall,
  plan: ({ entries }) => ({ entries: Array.isArray(entries) ? entries.flatMap(planEntry) : [] }),
  available_commands_update: ({ availableCommands }) => ({
    availableCommands: Array.isArray(availableCommands) ? availableCommands.flatMap(command) : [],
  }),
  current_mode_update: ({ currentModeId }) => (typeof currentModeId === 'string' ? { currentModeId } : undefined),
  session_info_update: ({ title, updatedAt }) => ({
    ...(typeof title === 'string' && { title }),
    ...(typeof updatedAt === 'string' && { updatedAt }),
  }),
  usage_update: ({ used, size }) => (isCount(used) && isCount(size) ? { used, size } : undefined),
  notice: ({ severity, title, description }) =>
    typeof title === 'string' && title !== ''
      ? {
          severity: SEVERITIES.find((one) => one === severity) ?? 'info',
          title,
          ...(typeof description === 'string' && { description }),
        }
      : undefined,
  compaction_update: ({ compactionId, status, summary, error }) =>
    typeof compactionId === 'string' && typeof status === 'string'
      ? {
          compactionId,
          status,
          ...(Array.isArray(summary) && { summary: summary.flatMap((block) => validAcpBlock(block) ?? []) }),
          ...(typeof error === 'string' && { error }),
        }
      : undefined,
  compaction_summary_chunk: ({ compactionId, content }) => {
    const block = validAcpBlock(content);
    return typeof compactionId === 'string' && block !== undefined ? { compactionId, content: block } : undefined;
  },
};

function chunk({ content, messageId }: JsonObject): JsonObject | undefined {
  const block = validAcpBlock(content);
  return block && { content: block, ...(typeof messageId === 'string' && { messageId }) };
}

function toolCall(update: JsonObject): JsonObject | undefined {
  const { toolCallId, title, kind, status, content, locations, rawInput, rawOutput } = update;
  if (typeof toolCallId !== 'string' || toolCallId === '') return undefined;
  const known = ACP_TOOL_KINDS.find((one) => one === kind);
  return {
    toolCallId,
    ...(typeof title === 'string' && { title }),
    ...(known !== undefined && { kind: known }),
    ...(status !== undefined && status !== null && { status: acpToolStatus(status) }),
    ...(Array.isArray(content) && { content: content.flatMap(toolContent) }),
    ...(Array.isArray(locations) && { locations: locations.flatMap(location) }),
    ...(rawInput !== undefined && { rawInput }),
    ...(rawOutput !== undefined && { rawOutput }),
  };
}

/** Content that refers to the agent's own terminals is left out, because the client cannot show it. */
function toolContent(item: Json): JsonObject[] {
  if (!isObject(item)) return [];
  const { type, content, path, oldText, newText } = item;
  const block = type === 'content' ? validAcpBlock(content) : undefined;
  if (block !== undefined) return [{ type: 'content', content: block }];
  if (type !== 'diff' || typeof path !== 'string' || typeof newText !== 'string') return [];
  return [{ type: 'diff', path, newText, ...(typeof oldText === 'string' && { oldText }) }];
}

function location(item: Json): JsonObject[] {
  if (!isObject(item) || typeof item['path'] !== 'string') return [];
  const { path, line } = item;
  return [{ path, ...(isCount(line) && line < 2 ** 32 && { line }) }];
}

function planEntry(item: Json): JsonObject[] {
  if (!isObject(item)) return [];
  const content = [item['content'], item['title'], item['text'], item['task']].find((text) => typeof text === 'string');
  if (typeof content !== 'string') return [];
  const priority = PRIORITIES.find((one) => one === item['priority']) ?? 'medium';
  const status = acpToolStatus(item['status'] ?? 'pending');
  return [{ content, priority, status: status === 'failed' ? 'completed' : status }];
}

/** A to-do list of any shape as ACP's plan. */
export function acpPlanOf(items: readonly Json[]): JsonObject {
  return { sessionUpdate: 'plan', entries: items.flatMap(planEntry) };
}

function command(item: Json): JsonObject[] {
  if (!isObject(item) || typeof item['name'] !== 'string') return [];
  const { name, description, input } = item;
  const hint = isObject(input) && typeof input['hint'] === 'string' ? { input: { hint: input['hint'] } } : {};
  return [{ name, description: typeof description === 'string' ? description : '', ...hint }];
}

/** A content block with only the members that ACP defines; `undefined` if it is not a valid block. */
export function validAcpBlock(block: Json | undefined): JsonObject | undefined {
  if (!isObject(block)) return undefined;
  const { type, text, data, mimeType, uri, name, resource } = block;
  if (type === 'text') return typeof text === 'string' ? { type, text } : undefined;
  if (type === 'image' || type === 'audio') {
    return typeof data === 'string' && typeof mimeType === 'string' ? { type, data, mimeType } : undefined;
  }
  if (type === 'resource_link') {
    if (typeof uri !== 'string') return undefined;
    return {
      type,
      uri,
      name: typeof name === 'string' ? name : uri,
      ...(typeof mimeType === 'string' && { mimeType }),
    };
  }
  if (type !== 'resource' || !isObject(resource) || typeof resource['uri'] !== 'string') return undefined;
  const { uri: address, text: words, blob, mimeType: mime } = resource;
  const kind = typeof mime === 'string' ? { mimeType: mime } : {};
  if (typeof words === 'string') return { type, resource: { uri: address, text: words, ...kind } };
  return typeof blob === 'string' ? { type, resource: { uri: address, blob, ...kind } } : undefined;
}

function metaOf({ _meta: meta }: JsonObject): JsonObject {
  return isObject(meta) ? { _meta: meta } : {};
}

function isCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

const SEVERITIES = ['info', 'warning', 'error'] as const;
const PRIORITIES = ['high', 'medium', 'low'] as const;

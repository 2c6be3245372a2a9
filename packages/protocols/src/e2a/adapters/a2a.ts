import { isObject, type Json, type JsonObject } from '../../json.ts';
import { type E2AEnvelope, newEnvelope } from '../envelope.ts';
import { newProvenance } from '../provenance.ts';
import type { E2AResponse } from '../response.ts';
import type { A2aStreamBranch } from '../response-body.ts';
import { respellA2a, type Spelling } from './spelling.ts';

/** A Linux Foundation A2A SendMessage call, and what its endpoint knows about it. */
export interface A2aCall
  extends Partial<
    Pick<
      E2AEnvelope,
      | 'request_id'
      | 'task_id'
      | 'context_id'
      | 'session_id'
      | 'jsonrpc_id'
      | 'channel'
      | 'identity_origin'
      | 'agent_ref'
      | 'source_agent_id'
      | 'is_stream'
    >
  > {
  /** The A2A Message, in either spelling. */
  readonly message_body: JsonObject;
  /** The call's own metadata; it becomes `a2a_metadata`. */
  readonly metadata?: JsonObject;
  readonly configuration?: JsonObject;
  readonly converter?: string;
  readonly details?: JsonObject;
  readonly now?: Date;
}

/**
 * A2A SendMessage → E2A (E2A §8). The method is `session/prompt`, so the text and the blocks that an ACP agent reads
 * are derived from the message's parts and added to `params`.
 */
export function envelopeFromA2aSendMessage(call: A2aCall): E2AEnvelope {
  const { message_body: message, configuration = {} } = call;
  const parts = Array.isArray(message['parts']) ? message['parts'].filter(isObject) : [];
  const blocks = parts.flatMap((part) => blockOf(part));
  const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n');
  return newEnvelope({
    provenance: newProvenance({
      source_protocol: 'a2a',
      converter: call.converter ?? 'dragoman',
      converted_at: call.now?.toISOString() ?? null,
      details: { kind: 'a2a_send_message', abstract_operation: 'SendMessage', ...call.details },
    }),
    request_id: call.request_id ?? null,
    jsonrpc_id: call.jsonrpc_id ?? null,
    task_id: call.task_id ?? textIn(message, 'task_id', 'taskId'),
    context_id: call.context_id ?? textIn(message, 'context_id', 'contextId'),
    session_id: call.session_id ?? null,
    message_id: textIn(message, 'message_id', 'messageId'),
    identity_origin: call.identity_origin ?? 'user',
    channel: call.channel ?? null,
    agent_ref: call.agent_ref ?? null,
    source_agent_id: call.source_agent_id ?? null,
    is_stream: call.is_stream ?? false,
    method: 'session/prompt',
    params: {
      message,
      configuration,
      ...(blocks.length > 0 && { content_blocks: blocks }),
      ...(text !== '' && { text }),
    },
    expected_output_modes: outputModesOf(configuration),
    a2a_metadata: call.metadata ?? {},
  });
}

export interface A2aOptions {
  /** The spelling of A2A's field names in the payload. Default: unchanged. A2A peers expect `camelCase`. */
  readonly spelling?: Spelling;
}

/** An `a2a.stream_event` frame → its StreamResponse with exactly one branch; `undefined` for other frames (E2A §8). */
export function e2aResponseToA2aStreamPayload(
  response: E2AResponse,
  { spelling }: A2aOptions = {},
): JsonObject | undefined {
  if (response.response_kind !== 'a2a.stream_event') return undefined;
  const ready = response.projections['a2a'];
  if (isReadyPayload(ready)) return { ...ready };
  const { branch, payload } = response.body;
  if (!isBranch(branch) || !isObject(payload)) return undefined;
  return { [BRANCH_KEYS[branch]]: spelling === undefined ? payload : respellA2a(payload, spelling) };
}

/** The key of a branch in a StreamResponse. */
export const BRANCH_KEYS: Readonly<Record<A2aStreamBranch, string>> = {
  task: 'task',
  message: 'message',
  status_update: 'statusUpdate',
  artifact_update: 'artifactUpdate',
};

/** Whether a projection is a StreamResponse with exactly one branch. */
function isReadyPayload(ready: Json | undefined): ready is JsonObject {
  if (!isObject(ready)) return false;
  const keys = Object.values(BRANCH_KEYS).filter((key) => Object.hasOwn(ready, key));
  return keys.length === 1 && keys.every((key) => isObject(ready[key]));
}

export function isBranch(branch: Json | undefined): branch is A2aStreamBranch {
  return typeof branch === 'string' && Object.hasOwn(BRANCH_KEYS, branch);
}

function outputModesOf(configuration: JsonObject): string[] {
  const modes = configuration['acceptedOutputModes'] ?? configuration['accepted_output_modes'];
  if (!Array.isArray(modes)) return [];
  return modes.map((mode) => (typeof mode === 'string' ? mode : JSON.stringify(mode)));
}

/** One A2A part as an ACP content block. Parts of A2A 1.0 are flat; earlier versions have a file in `file`. */
function blockOf(part: JsonObject): JsonObject[] {
  if (typeof part['text'] === 'string') return [{ type: 'text', text: part['text'] }];
  const file = isObject(part['file']) ? { ...part, ...part['file'] } : part;
  const mime = textIn(file, 'mediaType', 'media_type', 'mimeType', 'mime_type');
  const name = textIn(file, 'filename', 'name');
  const uri = textIn(file, 'url', 'uri', 'fileWithUri', 'file_with_uri');
  if (uri !== null)
    return [{ type: 'resource_link', uri, name: name ?? uri, ...(mime !== null && { mime_type: mime }) }];
  const bytes = textIn(file, 'raw', 'bytes', 'fileWithBytes', 'file_with_bytes');
  if (bytes !== null) return [bytesBlock(bytes, mime ?? 'application/octet-stream', name)];
  // ACP has no block for data, so the agent gets its JSON as text.
  return part['data'] === undefined ? [] : [{ type: 'text', text: JSON.stringify(part['data']) }];
}

/** Images and audio have their own blocks; other bytes are an embedded resource. */
function bytesBlock(data: string, mime: string, name: string | null): JsonObject {
  const kind = mime.slice(0, mime.indexOf('/'));
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mime_type: mime };
  return { type: 'resource', resource: { uri: name ?? 'attachment', blob: data, mime_type: mime } };
}

/** The first of the members that is a non-empty string. */
function textIn(holder: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = holder[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

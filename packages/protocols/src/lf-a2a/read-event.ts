import { isObject, type Json, type JsonObject } from '../json.ts';
import type { MessagePart } from './shapes.ts';
import { TASK_STATES, type TaskState } from './states.ts';

/** The ids of the task and the context in an event. */
export interface PeerIds {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

export interface PeerMessage extends PeerIds {
  readonly id: string | undefined;
  readonly isFromAgent: boolean;
  readonly parts: readonly MessagePart[];
}

export interface PeerStatus {
  /** `undefined`: not a state of A2A. */
  readonly state: TaskState | undefined;
  readonly message: PeerMessage | undefined;
}

export interface PeerArtifact {
  readonly id: string;
  readonly parts: readonly MessagePart[];
}

/** One event of a remote agent, in the terms of A2A 1.0, whichever version it used. */
export type PeerEvent =
  | ({ readonly kind: 'task'; readonly status: PeerStatus } & PeerIds & {
        readonly artifacts: readonly PeerArtifact[];
        readonly history: readonly PeerMessage[];
      })
  | ({ readonly kind: 'message' } & PeerMessage)
  | ({ readonly kind: 'status'; readonly status: PeerStatus } & PeerIds)
  | ({ readonly kind: 'artifact'; readonly artifact: PeerArtifact; readonly append: boolean } & PeerIds);

/**
 * Reads an event by its shape. The version on a card does not decide it: servers mix the objects of 0.3, which have a
 * `kind`, with the state names and the parts of 1.0, and the reverse. `undefined` if it is not an event of A2A.
 */
export function readPeerEvent(json: Json): PeerEvent | undefined {
  if (!isObject(json)) return undefined;
  const { kind } = json;
  if (typeof kind === 'string') return READERS.get(kind)?.(json);
  for (const [member, read] of READERS) {
    const wrapped = json[member];
    if (isObject(wrapped)) return read(wrapped);
  }
  if (isObject(json['artifact'])) return readArtifactEvent(json);
  if (isObject(json['status'])) return json['id'] === undefined ? readStatusEvent(json) : readTask(json);
  return partsMember(json) === undefined ? undefined : readMessageEvent(json);
}

/** The parts of a message or an artifact, without those that cannot be read. */
export function readParts(holder: JsonObject): MessagePart[] {
  return (partsMember(holder) ?? []).flatMap((part) => (isObject(part) ? readPart(part) : []));
}

/** Whether the agent marked the part as its reasoning. */
export function isThought({ text, metadata }: MessagePart): boolean {
  return text !== undefined && (metadata?.['thought'] === true || metadata?.['adk_thought'] === true);
}

/** By the `kind` of 0.3, or by the wrapping member of 1.0 and of the 0.3 protocol buffers. */
const READERS: ReadonlyMap<string, (json: JsonObject) => PeerEvent | undefined> = new Map([
  ['task', readTask],
  ['message', readMessageEvent],
  ['msg', readMessageEvent],
  ['statusUpdate', readStatusEvent],
  ['status-update', readStatusEvent],
  ['status_update', readStatusEvent],
  ['artifactUpdate', readArtifactEvent],
  ['artifact-update', readArtifactEvent],
  ['artifact_update', readArtifactEvent],
]);

function readTask(json: JsonObject): PeerEvent {
  return {
    kind: 'task',
    taskId: textIn(json, 'id'),
    contextId: textIn(json, 'contextId', 'context_id'),
    status: readStatus(json['status']),
    artifacts: objectsIn(json['artifacts']).map(readArtifact),
    history: objectsIn(json['history']).map(readMessage),
  };
}

function readMessageEvent(json: JsonObject): PeerEvent {
  return { kind: 'message', ...readMessage(json) };
}

function readStatusEvent(json: JsonObject): PeerEvent {
  return { kind: 'status', ...idsIn(json), status: readStatus(json['status']) };
}

function readArtifactEvent(json: JsonObject): PeerEvent {
  const { artifact, append } = json;
  return {
    kind: 'artifact',
    ...idsIn(json),
    artifact: readArtifact(isObject(artifact) ? artifact : {}),
    append: append === true,
  };
}

function readArtifact(json: JsonObject): PeerArtifact {
  return { id: textIn(json, 'artifactId', 'artifact_id') ?? '', parts: readParts(json) };
}

function readStatus(json: Json | undefined): PeerStatus {
  if (!isObject(json)) return { state: undefined, message: undefined };
  const message = json['message'] ?? json['update'];
  return { state: readState(json['state']), message: isObject(message) ? readMessage(message) : undefined };
}

function readMessage(json: JsonObject): PeerMessage {
  const { role } = json;
  const isFromUser = typeof role === 'string' && /user$/i.test(role);
  const id = textIn(json, 'messageId', 'message_id');
  return { id, ...idsIn(json), isFromAgent: !isFromUser, parts: readParts(json) };
}

/** All of these spellings are in use: `TASK_STATE_INPUT_REQUIRED`, `input-required`, `TASK_STATE_CANCELLED`. */
function readState(state: Json | undefined): TaskState | undefined {
  if (typeof state !== 'string') return undefined;
  const word = state
    .toUpperCase()
    .replaceAll('-', '_')
    .replace(/^TASK_STATE_/, '')
    .replace('CANCELLED', 'CANCELED');
  return TASK_STATES.find((known) => known === `TASK_STATE_${word}`);
}

function readPart(part: JsonObject): MessagePart[] {
  const { metadata, data } = part;
  const more = isObject(metadata) ? { metadata } : {};
  if (typeof part['text'] === 'string') return [{ text: part['text'], ...more }];
  // 0.3 has a file in its own member; 1.0 is flat.
  const file: JsonObject = isObject(part['file']) ? part['file'] : part;
  const about = {
    ...optional('filename', textIn(file, 'filename', 'name')),
    ...optional('mediaType', textIn(file, 'mediaType', 'media_type', 'mimeType', 'mime_type')),
    ...more,
  };
  const url = textIn(file, 'url', 'uri', 'fileWithUri', 'file_with_uri');
  if (url !== undefined) return [{ url, ...about }];
  const raw = textIn(file, 'raw', 'bytes', 'fileWithBytes', 'file_with_bytes');
  if (raw !== undefined) return [{ raw, ...about }];
  return data === undefined ? [] : [{ data, ...more }];
}

function partsMember(json: JsonObject): Json[] | undefined {
  const parts = json['parts'] ?? json['content'];
  return Array.isArray(parts) ? parts : undefined;
}

function idsIn(json: JsonObject): PeerIds {
  return { taskId: textIn(json, 'taskId', 'task_id'), contextId: textIn(json, 'contextId', 'context_id') };
}

function objectsIn(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The first of the members that is a non-empty text. */
function textIn(holder: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = holder[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function optional<Name extends string>(name: Name, value: string | undefined): { [Key in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: string };
}

import { isObject, type Json, type JsonObject } from '../json.ts';
import type { A2aOperation } from './operations.ts';
import type {
  Artifact,
  Message,
  MessagePart,
  StreamEvent,
  Task,
  TaskPushNotificationConfig,
  TaskStatus,
} from './shapes.ts';
import { closesStream, stateIn03 } from './states.ts';

// A2A 0.3 and 1.0 have the same operations in different forms. Each shape is converted by its own rule, so that
// `metadata`, `data` and everything else that belongs to users is unchanged.

/** Converts the parameters of a 0.3 call to 1.0. Missing members and wrong types are left for the decoder to report. */
export function paramsFrom03(operation: A2aOperation, params: Json): Json {
  if (!isObject(params)) return params;
  if (operation.includes('PushNotificationConfig')) return pushParamsFrom03(operation, params);
  if (operation !== 'SendMessage' && operation !== 'SendStreamingMessage') return params;
  const { message, configuration, ...rest } = params;
  return {
    ...rest,
    ...(message !== undefined && { message: messageFrom03(message) }),
    ...(isObject(configuration) && { configuration: configurationFrom03(configuration) }),
  };
}

function messageFrom03(message: Json): Json {
  if (!isObject(message)) return message;
  const { kind: _, role, parts, ...rest } = message;
  return {
    ...rest,
    ...(role !== undefined && { role: typeof role === 'string' ? (ROLES.get(role) ?? role) : role }),
    ...(parts !== undefined && { parts: Array.isArray(parts) ? parts.map(partFrom03) : parts }),
  };
}

function partFrom03(part: Json): Json {
  if (!isObject(part)) return part;
  const { kind: _, file, ...rest } = part;
  if (!isObject(file)) return rest;
  const { bytes, uri, name, mimeType } = file;
  return {
    ...rest,
    ...(bytes !== undefined && { raw: bytes }),
    ...(uri !== undefined && { url: uri }),
    ...(name !== undefined && { filename: name }),
    ...(mimeType !== undefined && { mediaType: mimeType }),
  };
}

/** `blocking` has the opposite sense of `returnImmediately`. */
function configurationFrom03({ blocking, pushNotificationConfig, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(typeof blocking === 'boolean' && { returnImmediately: !blocking }),
    ...(pushNotificationConfig !== undefined && {
      taskPushNotificationConfig: pushConfigFrom03(pushNotificationConfig),
    }),
  };
}

/** The task is `id`, except when a config is created. A config without an id of its own has the id of its task. */
function pushParamsFrom03(operation: A2aOperation, params: JsonObject): JsonObject {
  if (operation === 'CreateTaskPushNotificationConfig') {
    const { taskId, pushNotificationConfig } = params;
    const config = pushConfigFrom03(pushNotificationConfig ?? null);
    return { ...(isObject(config) && config), ...(taskId !== undefined && { taskId }) };
  }
  const { id, pushNotificationConfigId = id } = params;
  const config = operation === 'ListTaskPushNotificationConfigs' ? undefined : pushNotificationConfigId;
  return { ...(id !== undefined && { taskId: id }), ...(config !== undefined && { id: config }) };
}

/** 0.3 has a list of schemes; 1.0 keeps only the first. */
export function pushConfigFrom03(config: Json): Json {
  if (!isObject(config) || !isObject(config['authentication'])) return config;
  const { schemes, ...rest } = config['authentication'];
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  return { ...config, authentication: { ...rest, ...(scheme !== undefined && { scheme }) } };
}

export function pushConfigTo03({
  taskId,
  tenant: _,
  authentication,
  ...config
}: TaskPushNotificationConfig): JsonObject {
  return {
    taskId,
    pushNotificationConfig: {
      ...config,
      ...(authentication !== undefined && { authentication: { schemes: [authentication.scheme] } }),
    },
  };
}

export function taskTo03(task: Task): JsonObject {
  const { status, artifacts, history, ...rest } = task;
  return {
    ...rest,
    kind: 'task',
    status: statusTo03(status),
    ...(artifacts !== undefined && { artifacts: artifacts.map(artifactTo03) }),
    ...(history !== undefined && { history: history.map(messageTo03) }),
  } as JsonObject;
}

/** An event of a stream: the bare object; `kind` distinguishes them. The last status of a stream is marked `final`. */
export function eventTo03(event: StreamEvent): JsonObject {
  if ('task' in event) return taskTo03(event.task);
  if ('message' in event) return messageTo03(event.message);
  if ('statusUpdate' in event) {
    const { status, ...rest } = event.statusUpdate;
    return {
      ...rest,
      kind: 'status-update',
      status: statusTo03(status),
      final: closesStream(status.state),
    } as JsonObject;
  }
  const { artifact, ...rest } = event.artifactUpdate;
  return { ...rest, kind: 'artifact-update', artifact: artifactTo03(artifact) } as JsonObject;
}

function statusTo03({ state, message, ...rest }: TaskStatus): JsonObject {
  return { ...rest, state: stateIn03(state), ...(message !== undefined && { message: messageTo03(message) }) };
}

function messageTo03({ role, parts, ...rest }: Message): JsonObject {
  return {
    ...rest,
    kind: 'message',
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(partTo03),
  } as JsonObject;
}

function artifactTo03({ parts, ...rest }: Artifact): JsonObject {
  return { ...rest, parts: parts.map(partTo03) };
}

function partTo03({ text, raw, url, data, filename, mediaType, metadata }: MessagePart): JsonObject {
  const more = metadata === undefined ? {} : { metadata };
  if (text !== undefined) return { kind: 'text', text, ...more };
  // 0.3 allows objects only.
  if (data !== undefined) return { kind: 'data', data: isObject(data) ? data : { value: data }, ...more };
  const file = {
    ...(raw !== undefined && { bytes: raw }),
    ...(url !== undefined && { uri: url }),
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
  };
  return { kind: 'file', file, ...more };
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
]);

import { isObject, type Json, type JsonObject } from '../json.ts';
import type { A2aOperation } from './operations.ts';
import type { Artifact, Message, MessagePart, StreamEvent, Task, TaskPushNotificationConfig } from './shapes.ts';
import { closesStream, type TaskState } from './states.ts';
import { paramsFrom03, pushConfigFrom03 } from './version-03.ts';

// HTTP+JSON of 0.3 as its clients write it: the protocol buffers of 0.3 as JSON, which is neither the JSON-RPC of 0.3
// nor 1.0. Some readers refuse members that they do not know, so nothing is added.

/** Converts the parameters of a call to 1.0. A message with `parts` is read in the form of the 0.3 document. */
export function httpJsonParamsFrom03(operation: A2aOperation, params: Json): Json {
  if (!isObject(params)) return params;
  if (operation === 'CreateTaskPushNotificationConfig') return newPushConfigFrom03(params);
  // Other operations have no body.
  if (operation !== 'SendMessage' && operation !== 'SendStreamingMessage') return params;
  const { message = params['request'], request: _, configuration, ...rest } = params;
  if (!isObject(message) || message['content'] === undefined) {
    return paramsFrom03(operation, message === undefined ? params : { ...params, message });
  }
  const { content, ...about } = message;
  return {
    ...rest,
    message: { ...withoutBlanks(about), parts: Array.isArray(content) ? content.map(partFrom03) : content },
    ...(isObject(configuration) && { configuration: configurationFrom03(configuration) }),
  };
}

function configurationFrom03({ blocking, pushNotification, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(typeof blocking === 'boolean' && { returnImmediately: !blocking }),
    ...(pushNotification !== undefined && { taskPushNotificationConfig: pushConfigFrom03(pushNotification) }),
  };
}

function partFrom03(part: Json): Json {
  if (!isObject(part)) return part;
  const { file, data, ...rest } = part;
  if (isObject(data)) return { ...rest, data: data['data'] ?? {} };
  if (!isObject(file)) return part;
  const { fileWithBytes: raw, fileWithUri: url, mimeType: mediaType, name: filename } = file;
  const known = { raw, url, mediaType, filename };
  return { ...rest, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) } as Json;
}

/** Reads a config, or a request to create one. The task is the one in the path. */
function newPushConfigFrom03({ taskId, config, configId, ...params }: JsonObject): JsonObject {
  const { pushNotificationConfig } = isObject(config) ? config : params;
  const read = pushConfigFrom03(pushNotificationConfig ?? null);
  return withoutBlanks({
    ...(configId !== undefined && { id: configId }),
    ...(isObject(read) && withoutBlanks(read)),
    ...(taskId !== undefined && { taskId }),
  });
}

/** Leaves out empty strings, which mean that a member is absent. */
function withoutBlanks(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
}

export function httpJsonEventTo03(event: StreamEvent): JsonObject {
  if ('task' in event) return { task: httpJsonTaskTo03(event.task) };
  if ('message' in event) return { message: httpJsonMessageTo03(event.message) };
  if ('statusUpdate' in event) {
    const { status, ...rest } = event.statusUpdate;
    return { statusUpdate: { ...rest, status: statusTo03(status), final: closesStream(status.state) } as JsonObject };
  }
  const { artifact, ...rest } = event.artifactUpdate;
  return { artifactUpdate: { ...rest, artifact: artifactTo03(artifact) } as JsonObject };
}

export function httpJsonTaskTo03({ status, artifacts, history, ...rest }: Task): JsonObject {
  return {
    ...rest,
    status: statusTo03(status),
    ...(artifacts !== undefined && { artifacts: artifacts.map(artifactTo03) }),
    ...(history !== undefined && { history: history.map(httpJsonMessageTo03) }),
  } as JsonObject;
}

function statusTo03({ state, message, timestamp }: Task['status']): JsonObject {
  return {
    state: stateTo03(state),
    ...(message !== undefined && { message: httpJsonMessageTo03(message) }),
    ...(timestamp !== undefined && { timestamp }),
  };
}

/** In 0.3, `CANCELLED` is spelled with two Ls. */
function stateTo03(state: TaskState): string {
  return state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state;
}

export function httpJsonMessageTo03({ parts, referenceTaskIds: _, ...rest }: Message): JsonObject {
  return { ...rest, content: parts.map(partTo03) } as JsonObject;
}

function artifactTo03({ parts, ...rest }: Artifact): JsonObject {
  return { ...rest, parts: parts.map(partTo03) };
}

function partTo03({ text, raw, url, data, filename, mediaType }: MessagePart): JsonObject {
  if (text !== undefined) return { text };
  if (data !== undefined) return { data: { data: isObject(data) ? data : { value: data } } };
  const about = {
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
  return { file: url === undefined ? { fileWithBytes: raw ?? '', ...about } : { fileWithUri: url, ...about } };
}

export function httpJsonConfigTo03({
  taskId,
  id = taskId,
  url,
  token,
  authentication,
}: TaskPushNotificationConfig): JsonObject {
  return {
    name: `tasks/${taskId}/pushNotificationConfigs/${id}`,
    pushNotificationConfig: {
      id,
      url,
      ...(token !== undefined && { token }),
      ...(authentication !== undefined && { authentication: { schemes: [authentication.scheme] } }),
    },
  };
}

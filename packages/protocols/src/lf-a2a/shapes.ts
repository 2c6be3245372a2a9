import { Opaque, OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';
import { TASK_STATES } from './states.ts';

// Linux Foundation A2A 1.0 as ProtoJSON: camelCase members, enum names as text. Members that a shape does not name are
// ignored, as ProtoJSON readers do (specification §5.5).

const text = { type: 'string' } as const;
const id = { type: 'string', minLength: 1, maxLength: 256 } as const;
const texts = { type: 'array', items: text } as const;
const count = { type: 'integer', minimum: 0 } as const;
/** Values that are sent as header fields: no spaces or line breaks. */
const visible = { type: 'string', pattern: '^[\\x21-\\x7e]{1,256}$' } as const;
const headerText = { type: 'string', pattern: '^[\\x20-\\x7e]{0,4096}$' } as const;

/** Exactly one of `text`, `raw`, `url` and `data` has the content of the part. */
export const MessagePart = {
  type: 'object',
  properties: {
    text,
    raw: text,
    url: text,
    data: Opaque,
    filename: text,
    mediaType: text,
    metadata: OpaqueObject,
  },
} as const;
export type MessagePart = Static<typeof MessagePart>;

export const Message = {
  type: 'object',
  required: ['messageId', 'role', 'parts'],
  properties: {
    messageId: id,
    contextId: id,
    taskId: id,
    role: { enum: ['ROLE_USER', 'ROLE_AGENT'] },
    parts: { type: 'array', minItems: 1, items: MessagePart },
    metadata: OpaqueObject,
    extensions: texts,
    referenceTaskIds: texts,
  },
} as const;
export type Message = Static<typeof Message>;

/** Where a task's events are sent. The same object is the request that creates the config (specification §4.3.1). */
export const TaskPushNotificationConfig = {
  type: 'object',
  required: ['taskId', 'url'],
  properties: {
    tenant: text,
    taskId: id,
    /** Default: the id of the task. */
    id: visible,
    url: { type: 'string', minLength: 1, maxLength: 2048 },
    /** Sent with every notification, so that its receiver can tell where it came from. */
    token: visible,
    authentication: {
      type: 'object',
      required: ['scheme'],
      properties: { scheme: { type: 'string', pattern: '^[A-Za-z0-9-]{1,64}$' }, credentials: headerText },
    },
  },
} as const;
export type TaskPushNotificationConfig = Static<typeof TaskPushNotificationConfig>;

/** The config inside a message, which is sent before there is a task. */
const NewTaskPushNotificationConfig = { ...TaskPushNotificationConfig, required: ['url'] } as const;
export type NewTaskPushNotificationConfig = Static<typeof NewTaskPushNotificationConfig>;

/** The request of GetTaskPushNotificationConfig and DeleteTaskPushNotificationConfig. */
export const PushConfigRequest = {
  type: 'object',
  required: ['taskId', 'id'],
  properties: { tenant: text, taskId: id, id: visible },
} as const;
export type PushConfigRequest = Static<typeof PushConfigRequest>;

export const ListPushConfigsRequest = {
  type: 'object',
  required: ['taskId'],
  properties: { tenant: text, taskId: id, pageSize: count, pageToken: text },
} as const;
export type ListPushConfigsRequest = Static<typeof ListPushConfigsRequest>;

export const SendMessageRequest = {
  type: 'object',
  required: ['message'],
  properties: {
    tenant: text,
    message: Message,
    configuration: {
      type: 'object',
      properties: {
        acceptedOutputModes: texts,
        historyLength: count,
        returnImmediately: { type: 'boolean' },
        taskPushNotificationConfig: NewTaskPushNotificationConfig,
      },
    },
    metadata: OpaqueObject,
  },
} as const;
export type SendMessageRequest = Static<typeof SendMessageRequest>;

export const GetTaskRequest = {
  type: 'object',
  required: ['id'],
  properties: { tenant: text, id, historyLength: count },
} as const;
export type GetTaskRequest = Static<typeof GetTaskRequest>;

export const ListTasksRequest = {
  type: 'object',
  properties: {
    tenant: text,
    contextId: id,
    status: { enum: TASK_STATES },
    pageSize: { type: 'integer', minimum: 1, maximum: 100 },
    pageToken: { type: 'string', maxLength: 256 },
    historyLength: count,
    statusTimestampAfter: { type: 'string', format: 'date-time' },
    includeArtifacts: { type: 'boolean' },
  },
} as const;
export type ListTasksRequest = Static<typeof ListTasksRequest>;

/** The request of CancelTask and SubscribeToTask. */
export const TaskRequest = {
  type: 'object',
  required: ['id'],
  properties: { tenant: text, id, metadata: OpaqueObject },
} as const;
export type TaskRequest = Static<typeof TaskRequest>;

export interface TaskStatus {
  state: (typeof TASK_STATES)[number];
  timestamp?: string;
  message?: Message;
}

export interface Artifact {
  artifactId: string;
  name?: string;
  parts: MessagePart[];
}

export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Static<typeof OpaqueObject>;
}

/** One event of a stream: exactly one member. */
export type StreamEvent =
  | { readonly task: Task }
  | { readonly message: Message }
  | { readonly statusUpdate: StatusUpdate }
  | { readonly artifactUpdate: ArtifactUpdate };

export interface StatusUpdate {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: Static<typeof OpaqueObject>;
}

export interface ArtifactUpdate {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  append: boolean;
  lastChunk: boolean;
}

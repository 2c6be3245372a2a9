import * as validators from '../generated/lf-a2a.js';
import type { Json } from '../json.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { issuesOf, type Validator } from '../validation.ts';
import {
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  type MessagePart,
  PushConfigRequest,
  SendMessageRequest,
  TaskPushNotificationConfig,
  TaskRequest,
} from './shapes.ts';

/** The parameters of each operation. */
export interface Requests {
  SendMessage: SendMessageRequest;
  SendStreamingMessage: SendMessageRequest;
  GetTask: GetTaskRequest;
  ListTasks: ListTasksRequest;
  CancelTask: TaskRequest;
  SubscribeToTask: TaskRequest;
  CreateTaskPushNotificationConfig: TaskPushNotificationConfig;
  GetTaskPushNotificationConfig: PushConfigRequest;
  ListTaskPushNotificationConfigs: ListPushConfigsRequest;
  DeleteTaskPushNotificationConfig: PushConfigRequest;
}

/** Reads the parameters of an operation, in the form of 1.0. */
export function decodeA2aRequest<Name extends keyof Requests>(operation: Name, params: Json): Outcome<Requests[Name]> {
  const { validate, schema } = SHAPES[operation];
  const issues: Issue[] = [...issuesOf(validate, schema, params)];
  if (issues.length === 0 && (operation === 'SendMessage' || operation === 'SendStreamingMessage')) {
    issues.push(...messageIssues(params as unknown as SendMessageRequest));
  }
  return issues.length > 0 ? reject(...issues) : accept(params as unknown as Requests[Name]);
}

/** Rules beyond the shape: the role, and that a part has exactly one content. */
function messageIssues({ message }: SendMessageRequest): Issue[] {
  const issues: Issue[] = message.parts.flatMap((part, index) => partIssues(part, `/message/parts/${index}`));
  if (message.role !== 'ROLE_USER') {
    const suggestion = 'send ROLE_USER: ROLE_AGENT is for answers';
    issues.push({
      pointer: '/message/role',
      code: 'role',
      message: 'role must be "ROLE_USER"; got "ROLE_AGENT"',
      suggestion,
    });
  }
  return issues;
}

function partIssues(part: MessagePart, pointer: string): Issue[] {
  const held = CONTENTS.filter((name) => part[name] !== undefined);
  if (held.length === 1) return [];
  const message = `the part must have exactly one of ${CONTENTS.join(', ')}; got ${held.length === 0 ? 'none' : held.join(' and ')}`;
  return [{ pointer, code: 'part_content', message }];
}

const CONTENTS = ['text', 'raw', 'url', 'data'] as const;

const send = { validate: validators.SendMessageRequest, schema: SendMessageRequest };
const task = { validate: validators.TaskRequest, schema: TaskRequest };
const pushConfig = { validate: validators.PushConfigRequest, schema: PushConfigRequest };
const SHAPES = {
  SendMessage: send,
  SendStreamingMessage: send,
  GetTask: { validate: validators.GetTaskRequest, schema: GetTaskRequest },
  ListTasks: { validate: validators.ListTasksRequest, schema: ListTasksRequest },
  CancelTask: task,
  SubscribeToTask: task,
  CreateTaskPushNotificationConfig: {
    validate: validators.TaskPushNotificationConfig,
    schema: TaskPushNotificationConfig,
  },
  GetTaskPushNotificationConfig: pushConfig,
  ListTaskPushNotificationConfigs: { validate: validators.ListPushConfigsRequest, schema: ListPushConfigsRequest },
  DeleteTaskPushNotificationConfig: pushConfig,
} satisfies Record<keyof Requests, { validate: Validator; schema: object }>;

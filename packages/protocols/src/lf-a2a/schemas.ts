import { SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import {
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigRequest,
  SendMessageRequest,
  TaskPushNotificationConfig,
  TaskRequest,
} from './shapes.ts';

const base = `${SCHEMA_BASE}/lf-a2a`;

const schemas: SchemaSet = {
  dialect: 'lf-a2a',
  schemas: {
    SendMessageRequest: {
      $id: `${base}/send-message.json`,
      title: 'A2A 1.0 SendMessageRequest',
      ...SendMessageRequest,
    },
    GetTaskRequest: { $id: `${base}/get-task.json`, title: 'A2A 1.0 GetTaskRequest', ...GetTaskRequest },
    ListTasksRequest: { $id: `${base}/list-tasks.json`, title: 'A2A 1.0 ListTasksRequest', ...ListTasksRequest },
    TaskRequest: {
      $id: `${base}/task.json`,
      title: 'A2A 1.0 CancelTaskRequest and SubscribeToTaskRequest',
      ...TaskRequest,
    },
    TaskPushNotificationConfig: {
      $id: `${base}/task-push-notification-config.json`,
      title: 'A2A 1.0 TaskPushNotificationConfig',
      ...TaskPushNotificationConfig,
    },
    PushConfigRequest: {
      $id: `${base}/push-notification-config.json`,
      title: 'A2A 1.0 GetTaskPushNotificationConfigRequest and DeleteTaskPushNotificationConfigRequest',
      ...PushConfigRequest,
    },
    ListPushConfigsRequest: {
      $id: `${base}/list-push-notification-configs.json`,
      title: 'A2A 1.0 ListTaskPushNotificationConfigsRequest',
      ...ListPushConfigsRequest,
    },
  },
};

export default schemas;

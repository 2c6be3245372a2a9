import type { Json, JsonObject } from '../json.ts';
import { httpJsonConfigTo03, httpJsonEventTo03, httpJsonParamsFrom03, httpJsonTaskTo03 } from './http-json-03.ts';
import type { A2aOperation, A2aVersion } from './operations.ts';
import type { StreamEvent, Task, TaskPushNotificationConfig } from './shapes.ts';
import { eventTo03, paramsFrom03, pushConfigTo03, taskTo03 } from './version-03.ts';

export type A2aBinding = 'JSONRPC' | 'HTTP+JSON';

/** How one version and binding writes objects of 1.0. */
export interface A2aWording {
  params(operation: A2aOperation, params: Json): Json;
  /** The answer to a message. */
  sent(task: Task): Json;
  task(task: Task): Json;
  event(event: StreamEvent): Json;
  config(config: TaskPushNotificationConfig): Json;
  configs(configs: readonly TaskPushNotificationConfig[]): Json;
  /** The answer to the deletion of a config. */
  readonly deleted: Json;
}

export function wordingOf(version: A2aVersion, binding: A2aBinding): A2aWording {
  if (version === '1.0') return MODERN;
  return binding === 'JSONRPC' ? JSON_RPC_03 : HTTP_JSON_03;
}

const asIs = (value: object): JsonObject => value as JsonObject;

const MODERN: A2aWording = {
  params: (_, params) => params,
  sent: (task) => ({ task: asIs(task) }),
  task: asIs,
  event: asIs,
  config: asIs,
  configs: (configs) => ({ configs: configs.map(asIs), nextPageToken: '' }),
  deleted: {},
};

const JSON_RPC_03: A2aWording = {
  params: paramsFrom03,
  sent: taskTo03,
  task: taskTo03,
  event: eventTo03,
  config: pushConfigTo03,
  configs: (configs) => configs.map(pushConfigTo03),
  deleted: null,
};

const HTTP_JSON_03: A2aWording = {
  params: httpJsonParamsFrom03,
  sent: (task) => ({ task: httpJsonTaskTo03(task) }),
  task: httpJsonTaskTo03,
  event: httpJsonEventTo03,
  config: httpJsonConfigTo03,
  configs: (configs) => ({ configs: configs.map(httpJsonConfigTo03), nextPageToken: '' }),
  deleted: {},
};

/** The operations of A2A 1.0, with their JSON-RPC method in 0.3; `undefined` where 0.3 has none. */
export const A2A_OPERATIONS = {
  SendMessage: 'message/send',
  SendStreamingMessage: 'message/stream',
  GetTask: 'tasks/get',
  ListTasks: undefined,
  CancelTask: 'tasks/cancel',
  SubscribeToTask: 'tasks/resubscribe',
  CreateTaskPushNotificationConfig: 'tasks/pushNotificationConfig/set',
  GetTaskPushNotificationConfig: 'tasks/pushNotificationConfig/get',
  ListTaskPushNotificationConfigs: 'tasks/pushNotificationConfig/list',
  DeleteTaskPushNotificationConfig: 'tasks/pushNotificationConfig/delete',
  GetExtendedAgentCard: 'agent/getAuthenticatedExtendedCard',
} as const;
export type A2aOperation = keyof typeof A2A_OPERATIONS;

/** The two versions that are served. */
export type A2aVersion = '1.0' | '0.3';

/**
 * The operation of a JSON-RPC method. The method names of 1.0 and 0.3 are disjoint, so the method also determines the
 * version.
 */
export function operationOf(method: string): { operation: A2aOperation; version: A2aVersion } | undefined {
  if (Object.hasOwn(A2A_OPERATIONS, method)) return { operation: method as A2aOperation, version: '1.0' };
  const operation = OLD_METHODS.get(method);
  return operation && { operation, version: '0.3' };
}

/**
 * The version that an `A2A-Version` header or query parameter asks for. Absent or empty means 0.3 (specification
 * §3.6.2); patch numbers are ignored. `undefined` for a version that is not served.
 */
export function requestedVersion(header: string | undefined): A2aVersion | undefined {
  if (header === undefined || header.trim() === '') return '0.3';
  const [, version] = /^\s*(\d+\.\d+)(?:\.\d+)?\s*$/.exec(header) ?? [];
  return version === '1.0' || version === '0.3' ? version : undefined;
}

const OLD_METHODS: ReadonlyMap<string, A2aOperation> = new Map(
  Object.entries(A2A_OPERATIONS).flatMap(([name, old]) => (old === undefined ? [] : [[old, name as A2aOperation]])),
);

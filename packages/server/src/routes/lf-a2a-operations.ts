import {
  type EventId,
  eventIdIn,
  type LfA2aTasks,
  type NumberedEvent,
  type OpenTask,
  type PushNotifications,
} from '@dragoman/core';
import { failure, type Json, type JsonObject } from '@dragoman/protocols';
import {
  type A2aError,
  type A2aOperation,
  type A2aVersion,
  a2aError,
  a2aErrorOf,
  decodeA2aRequest,
  eventTo03,
  isTerminal,
  pushConfigTo03,
  type Requests,
  type Task,
  type TaskPushNotificationConfig,
  taskTo03,
} from '@dragoman/protocols/lf-a2a';
import type { InboundRequest } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';

/** What the operations of A2A work on. */
export interface OperationContext {
  readonly tasks: LfA2aTasks;
  readonly pushes: PushNotifications;
  /** The agent behind a base URL; `undefined` in the path means the default agent. */
  readonly agentIn: (id: string | undefined) => string | undefined;
  /** The card of an agent as this caller may see it; `undefined`: there is no such agent. */
  readonly card: (agentId: string, request: InboundRequest, version: A2aVersion) => JsonObject | undefined;
}

/** One call of an operation, by whichever binding. */
export interface OperationCall {
  readonly request: InboundRequest;
  readonly version: A2aVersion;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly jsonrpcId: string | number | null;
}

/** An operation's answer before a binding words it. Errors of A2A itself are data; other failures are thrown. */
export type Performed =
  | { readonly json: Json }
  | { readonly events: AsyncIterable<readonly WordedEvent[]> }
  | { readonly error: A2aError };

export interface WordedEvent {
  readonly id: string;
  readonly json: Json;
}

/** Performs an operation with the parameters of 1.0. */
export async function perform(
  operation: A2aOperation,
  params: Json,
  call: OperationCall,
  context: OperationContext,
): Promise<Performed> {
  const { agentIn, card } = context;
  const agentId = agentIn(call.request.params['agent_id']);
  if (agentId === undefined) return { error: a2aErrorOf(failure('no_route')) };
  if (operation === 'GetExtendedAgentCard') {
    const json = card(agentId, call.request, call.version);
    return json === undefined ? { error: a2aErrorOf(failure('no_route')) } : { json };
  }
  const decoded = decodeA2aRequest(operation, params);
  if (!decoded.ok) return { error: a2aErrorOf(failure('invalid_message', { issues: decoded.issues })) };
  return OPERATE[operation](decoded.value as never, { ...call, agentId }, context);
}

type AgentCall = OperationCall & { readonly agentId: string };

type Operate<Name extends keyof Requests> = (
  params: Requests[Name],
  call: AgentCall,
  context: OperationContext,
) => Promise<Performed>;

const OPERATE: { readonly [Name in keyof Requests]: Operate<Name> } = {
  SendMessage: async (params, call, context) => {
    const refused = refusedMessage(params);
    if (refused !== undefined) return { error: refused };
    const opened = await sendMessage(params, call, context);
    const { historyLength, returnImmediately = false } = params.configuration ?? {};
    if (returnImmediately) return { json: sent(opened.task, call.version) };
    const fold = await opened.ended();
    return { json: sent(fold.task({ historyLength }), call.version) };
  },

  SendStreamingMessage: async (params, call, context) => {
    const refused = refusedMessage(params);
    if (refused !== undefined) return { error: refused };
    return streamOf(await sendMessage(params, call, context), call.version);
  },

  GetTask: async ({ id, historyLength }, { request, agentId, version }, { tasks }) => {
    const fold = await tasks.find(callerOf(request), agentId, id);
    return fold === undefined ? notFound() : { json: taskIn(fold.task({ historyLength }), version) };
  },

  ListTasks: async (params, { request, agentId, version }, { tasks }) => {
    const page = await tasks.list(callerOf(request), agentId, params);
    return { json: { ...page, tasks: page.tasks.map((task) => taskIn(task, version)) } };
  },

  CancelTask: async ({ id }, { request, agentId, version }, { tasks }) => {
    const before = await tasks.find(callerOf(request), agentId, id);
    if (before === undefined) return notFound();
    if (isTerminal(before.state) && before.state !== 'TASK_STATE_CANCELED') {
      return { error: a2aError('TaskNotCancelable', 'The task has ended already.') };
    }
    const fold = await tasks.cancel(callerOf(request), agentId, id);
    return fold === undefined ? notFound() : { json: taskIn(fold.task(), version) };
  },

  SubscribeToTask: async ({ id }, { request, agentId, version }, { tasks }) => {
    const principal = callerOf(request);
    const after = lastEventOf(request);
    const snapshot = await tasks.find(principal, agentId, id);
    if (snapshot === undefined) return notFound();
    if (after === undefined && isTerminal(snapshot.state)) {
      return { error: a2aError('UnsupportedOperation', 'The task has ended. Read it with GetTask.') };
    }
    const opened = await tasks.follow(principal, agentId, { taskId: id, signal: request.signal });
    if (opened === undefined) return notFound();
    return streamOf(opened, version, after);
  },

  CreateTaskPushNotificationConfig: async (params, { request, agentId, version }, { pushes }) => {
    const principal = callerOf(request);
    await pushes.check(principal, params);
    const config = await pushes.create(principal, agentId, params, { version, from: 'now' });
    return config === undefined ? notFound() : { json: configIn(config, version) };
  },

  GetTaskPushNotificationConfig: async ({ taskId, id }, { request, agentId, version }, { pushes }) => {
    const config = await pushes.find(keyOf(request, taskId), agentId, id);
    return config === undefined ? notFound() : { json: configIn(config, version) };
  },

  ListTaskPushNotificationConfigs: async ({ taskId }, { request, agentId, version }, { tasks, pushes }) => {
    if (!(await tasks.has(callerOf(request), agentId, taskId))) return notFound();
    const configs = (await pushes.list(keyOf(request, taskId))).map((config) => configIn(config, version));
    return { json: version === '0.3' ? configs : { configs, nextPageToken: '' } };
  },

  DeleteTaskPushNotificationConfig: async ({ taskId, id }, { request, agentId, version }, { tasks, pushes }) => {
    if (!(await tasks.has(callerOf(request), agentId, taskId))) return notFound();
    await pushes.remove(keyOf(request, taskId), id);
    return { json: version === '0.3' ? null : {} };
  },
};

/** A config that comes with a message is checked before its task is made, and kept before anybody hears of the task. */
async function sendMessage(params: Requests['SendMessage'], call: AgentCall, { tasks, pushes }: OperationContext) {
  const { principal, ...context } = sendContext(call);
  const config = params.configuration?.taskPushNotificationConfig;
  if (config !== undefined) await pushes.check(principal, config);
  const opened = await tasks.send(params, { principal, ...context });
  if (config !== undefined) {
    const { id: taskId } = opened.task;
    await pushes.create(principal, call.agentId, { ...config, taskId }, { version: call.version, from: 'start' });
  }
  return opened;
}

function keyOf(request: InboundRequest, requestId: string) {
  return { owner: callerOf(request).id, requestId };
}

function configIn(config: TaskPushNotificationConfig, version: A2aVersion): Json {
  return version === '0.3' ? pushConfigTo03(config) : (config as unknown as Json);
}

/** Without questions, nothing can be said to a task that runs or has ended (specification §3.4.3). */
function refusedMessage({ message }: Requests['SendMessage']): A2aError | undefined {
  if (message.taskId === undefined) return undefined;
  return a2aError('UnsupportedOperation', 'The task takes no more messages. Send one without taskId to start another.');
}

function sendContext({ request, agentId, binding, version, jsonrpcId }: AgentCall) {
  const received = { dialect: 'lf-a2a', text: request.body };
  return { principal: callerOf(request), agentId, binding, version, jsonrpcId, received, signal: request.signal };
}

/** The task as it is, then its events. After a `Last-Event-ID`: exactly the events behind it. */
function streamOf(opened: OpenTask, version: A2aVersion, after?: EventId): Performed {
  const word = ({ id, event }: NumberedEvent): WordedEvent => ({
    id,
    json: version === '0.3' ? eventTo03(event) : (event as unknown as Json),
  });
  async function* events() {
    if (after === undefined) yield [word({ id: 'task', event: { task: opened.task } })];
    for await (const batch of opened.events(after)) yield batch.map(word);
  }
  return { events: events() };
}

function lastEventOf({ headers, query }: InboundRequest): EventId | undefined {
  const text = headers['last-event-id'] ?? query.get('after') ?? undefined;
  return eventIdIn(typeof text === 'string' ? text : undefined);
}

function sent(task: Task, version: A2aVersion): Json {
  return version === '0.3' ? taskTo03(task) : ({ task } as unknown as Json);
}

function taskIn(task: Task, version: A2aVersion): Json {
  return version === '0.3' ? taskTo03(task) : (task as unknown as Json);
}

function notFound(): Performed {
  return { error: a2aError('TaskNotFound', 'Task not found.') };
}

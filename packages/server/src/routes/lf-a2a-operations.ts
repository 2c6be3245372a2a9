import {
  type EventId,
  eventIdIn,
  failureOf,
  type LfA2aTasks,
  type NumberedEvent,
  type OpenTask,
  type PushNotifications,
  type SendContext,
} from '@dragoman/core';
import { failure, type Json } from '@dragoman/protocols';
import {
  type A2aBinding,
  type A2aError,
  type A2aOperation,
  type A2aVersion,
  type A2aWording,
  a2aError,
  a2aErrorOf,
  decodeA2aRequest,
  isSettled,
  isTerminal,
  type Requests,
  type Task,
  wordingOf,
} from '@dragoman/protocols/lf-a2a';
import type { A2aCards } from '../agents/a2a-cards.ts';
import type { InboundRequest } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';

export interface OperationContext {
  readonly tasks: LfA2aTasks;
  readonly pushes: PushNotifications;
  /** The agent behind a base URL; `undefined` in the path means the default agent. */
  readonly agentIn: (id: string | undefined) => string | undefined;
  readonly cards: Pick<A2aCards, 'isVisible' | 'card' | 'list' | 'catalog'>;
}

/** One call of an operation, by whichever binding. */
export interface OperationCall {
  readonly request: InboundRequest;
  readonly version: A2aVersion;
  readonly binding: A2aBinding;
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

export async function perform(
  operation: A2aOperation,
  params: Json,
  call: OperationCall,
  context: OperationContext,
): Promise<Performed> {
  const { agentIn, cards } = context;
  const agentId = agentIn(call.request.params['agent_id']);
  if (agentId === undefined) return { error: a2aErrorOf(failure('no_route')) };
  if (operation === 'GetExtendedAgentCard') {
    const isVisible = cards.isVisible(agentId, call.request);
    const json = isVisible ? await cards.card(agentId, call.request, call.version) : undefined;
    return json === undefined ? { error: a2aErrorOf(failure('no_route')) } : { json };
  }
  const wording = wordingOf(call.version, call.binding);
  const decoded = decodeA2aRequest(operation, wording.params(operation, params));
  if (!decoded.ok) return { error: a2aErrorOf(failure('invalid_message', { issues: decoded.issues })) };
  return OPERATE[operation](decoded.value as never, { agentId, wording, ...call }, context);
}

type AgentCall = OperationCall & { readonly agentId: string; readonly wording: A2aWording };

type Operate<Name extends keyof Requests> = (
  params: Requests[Name],
  call: AgentCall,
  context: OperationContext,
) => Promise<Performed>;

const OPERATE: { readonly [Name in keyof Requests]: Operate<Name> } = {
  SendMessage: async (params, call, context) => {
    const started = await begin(params, call, context);
    if ('error' in started) return started;
    const { historyLength, returnImmediately = false } = params.configuration ?? {};
    if (returnImmediately) return { json: call.wording.sent(started.task()) };
    const fold = await started.opened.reached(isSettled);
    return { json: call.wording.sent(fold.task({ historyLength })) };
  },

  SendStreamingMessage: async (params, call, context) => {
    const started = await begin(params, call, context);
    return 'error' in started
      ? started
      : streamOf(started.opened, call.wording, { first: started, after: started.after });
  },

  GetTask: async ({ id, historyLength }, { request, agentId, wording }, { tasks }) => {
    const fold = await tasks.find(callerOf(request), agentId, id);
    return fold === undefined ? notFound() : { json: wording.task(fold.task({ historyLength })) };
  },

  ListTasks: async (params, { request, agentId, wording }, { tasks }) => {
    const page = await tasks.list(callerOf(request), agentId, params);
    return { json: { ...page, tasks: page.tasks.map((task) => wording.task(task)) } };
  },

  CancelTask: async ({ id }, { request, agentId, wording }, { tasks }) => {
    const before = await tasks.find(callerOf(request), agentId, id);
    if (before === undefined) return notFound();
    if (isTerminal(before.state) && before.state !== 'TASK_STATE_CANCELED') {
      return { error: a2aError('TaskNotCancelable', 'The task has ended already.') };
    }
    const fold = await tasks.cancel(callerOf(request), agentId, id);
    return fold === undefined ? notFound() : { json: wording.task(fold.task()) };
  },

  SubscribeToTask: async ({ id }, call, context) => {
    const { request, wording } = call;
    const joined = await join(id, call, context);
    if (joined === undefined) return notFound();
    const after = lastEventOf(request);
    if (after !== undefined) return streamOf(joined.opened, wording, { after });
    if (isTerminal(joined.task().status.state)) {
      return { error: a2aError('UnsupportedOperation', 'The task has ended. Read it with GetTask.') };
    }
    return streamOf(joined.opened, wording, { first: joined, after: joined.after });
  },

  CreateTaskPushNotificationConfig: async (params, { request, agentId, version, wording }, { pushes }) => {
    const principal = callerOf(request);
    await pushes.check(principal, params);
    const config = await pushes.create(principal, agentId, params, { version, from: 'now' });
    return config === undefined ? notFound() : { json: wording.config(config) };
  },

  GetTaskPushNotificationConfig: async ({ taskId, id }, { request, agentId, wording }, { pushes }) => {
    const config = await pushes.find(keyOf(request, taskId), agentId, id);
    return config === undefined ? notFound() : { json: wording.config(config) };
  },

  ListTaskPushNotificationConfigs: async ({ taskId }, { request, agentId, wording }, { tasks, pushes }) => {
    if (!(await tasks.has(callerOf(request), agentId, taskId))) return notFound();
    return { json: wording.configs(await pushes.list(keyOf(request, taskId))) };
  },

  DeleteTaskPushNotificationConfig: async ({ taskId, id }, { request, agentId, wording }, { tasks, pushes }) => {
    if (!(await tasks.has(callerOf(request), agentId, taskId))) return notFound();
    await pushes.remove(keyOf(request, taskId), id);
    return { json: wording.deleted };
  },
};

/** A task and its further events. */
interface StartedTask {
  readonly opened: OpenTask;
  /** The task before those events. */
  task(): Task;
  /** The id of the last event that is part of the task already. */
  readonly lastEvent: string;
  readonly after?: EventId | undefined;
}

/** The task that a message starts, or the task whose question it answers. */
async function begin(
  params: Requests['SendMessage'],
  call: AgentCall,
  context: OperationContext,
): Promise<StartedTask | { readonly error: A2aError }> {
  const { taskId } = params.message;
  if (taskId === undefined) return start(params, call, context);
  const refused = await refusedMessage(params, call, context);
  return refused === undefined ? answer(params, taskId, call, context) : { error: refused };
}

/**
 * Starts a task. A push configuration in the message is checked before the task is made, and stored before the task is
 * announced.
 */
async function start(
  params: Requests['SendMessage'],
  call: AgentCall,
  { tasks, pushes }: OperationContext,
): Promise<StartedTask> {
  const context = sendContext(call);
  const { principal } = context;
  const config = params.configuration?.taskPushNotificationConfig;
  if (config !== undefined) await pushes.check(principal, config);
  const opened = await tasks.send(params, context);
  if (config !== undefined) {
    const { id: taskId } = opened.current();
    await pushes.create(principal, call.agentId, { ...config, taskId }, { version: call.version, from: 'start' });
  }
  return { opened, task: opened.current, lastEvent: 'task' };
}

async function answer(
  params: Requests['SendMessage'],
  taskId: string,
  call: AgentCall,
  context: OperationContext,
): Promise<StartedTask | { readonly error: A2aError }> {
  const { tasks, pushes } = context;
  const principal = callerOf(call.request);
  const config = params.configuration?.taskPushNotificationConfig;
  if (config !== undefined) await pushes.check(principal, config);
  try {
    await tasks.answer(params, { principal, taskId, signal: call.request.signal });
  } catch (error) {
    const known = failureOf(error);
    if (known?.code !== 'conflict') throw error;
    return { error: a2aError('UnsupportedOperation', `${known.message} ${START_ANOTHER}`) };
  }
  if (config !== undefined) {
    await pushes.create(principal, call.agentId, { ...config, taskId }, { version: call.version, from: 'now' });
  }
  return (await join(taskId, call, context)) ?? { error: a2aError('TaskNotFound', NO_TASK) };
}

/** The first event is the current task (specification §3.1.6), and no later event repeats its content. */
async function join(taskId: string, call: AgentCall, { tasks }: OperationContext): Promise<StartedTask | undefined> {
  const { request, agentId } = call;
  const principal = callerOf(request);
  const now = await tasks.progress(principal, agentId, taskId);
  const opened = await tasks.follow(principal, agentId, { taskId, signal: request.signal });
  if (now === undefined || opened === undefined) return undefined;
  const { task, lastEvent } = now;
  return { opened, task: () => task, lastEvent, after: eventIdIn(lastEvent) };
}

function keyOf(request: InboundRequest, requestId: string) {
  return { owner: callerOf(request).id, requestId };
}

/** Why a message cannot be for the task that it names. */
async function refusedMessage(
  { message: { taskId = '', contextId } }: Requests['SendMessage'],
  { request, agentId }: AgentCall,
  { tasks }: OperationContext,
): Promise<A2aError | undefined> {
  const known = await tasks.find(callerOf(request), agentId, taskId);
  if (known === undefined) return a2aError('TaskNotFound', NO_TASK);
  const { contextId: own } = known.task();
  if (contextId !== undefined && contextId !== own) {
    const message = `contextId must be ${JSON.stringify(own)}, the one of the task, or absent`;
    return a2aErrorOf(
      failure('invalid_message', { issues: [{ pointer: '/message/contextId', code: 'context', message }] }, message),
    );
  }
  if (!isTerminal(known.state)) return undefined;
  return a2aError('UnsupportedOperation', `The task has ended. ${START_ANOTHER}`);
}

function sendContext({ request, agentId, binding, version, jsonrpcId }: AgentCall): SendContext {
  return {
    principal: callerOf(request),
    agentId,
    binding,
    version,
    jsonrpcId,
    received: { dialect: 'lf-a2a', text: request.body },
    get signal() {
      return request.signal;
    },
  };
}

/** Streams `first`, then the events after an id. */
function streamOf(opened: OpenTask, wording: A2aWording, { first, after }: StreamStart): Performed {
  const word = ({ id, event }: NumberedEvent): WordedEvent => ({ id, json: wording.event(event) });
  async function* events() {
    if (first !== undefined) yield [word({ id: first.lastEvent, event: { task: first.task() } })];
    for await (const batch of opened.events(after, { untilQuestion: true })) yield batch.map(word);
  }
  return { events: events() };
}

interface StreamStart {
  readonly first?: Pick<StartedTask, 'task' | 'lastEvent'>;
  readonly after?: EventId | undefined;
}

function lastEventOf({ headers, query }: InboundRequest): EventId | undefined {
  const text = headers['last-event-id'] ?? query.get('after') ?? undefined;
  return eventIdIn(typeof text === 'string' ? text : undefined);
}

function notFound(): Performed {
  return { error: a2aError('TaskNotFound', NO_TASK) };
}

const NO_TASK = 'Task not found.';
const START_ANOTHER = 'Send a message without taskId to start another.';

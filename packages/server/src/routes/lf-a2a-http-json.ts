import { type Clock, failureOf } from '@dragoman/core';
import { type Failure, failure, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { type A2aError, type A2aOperation, type A2aVersion, a2aErrorOf } from '@dragoman/protocols/lf-a2a';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { A2A_VERSION, eventStream, taskErrorOf, versionError } from './lf-a2a-bindings.ts';
import { type OperationCall, type OperationContext, perform } from './lf-a2a-operations.ts';

export interface HttpJsonContext extends OperationContext {
  readonly clock: Clock;
  readonly maxBytes: number;
}

/** The HTTP+JSON binding below the base URL of an agent: 1.0 right below it, 0.3 below `/v1`. */
export function httpJsonRoutes(base: string, version: A2aVersion, context: HttpJsonContext): Route[] {
  const body = { contentTypes: ['application/json', 'application/a2a+json'], maxBytes: context.maxBytes };
  const errorAnswer = ERROR_ANSWERS[version];
  const wordFailure = (known: Failure) => errorAnswer(a2aErrorOf(known));
  const common = { access: 'agent', parameters: [A2A_VERSION], wordFailure } as const;
  const run = (request: InboundRequest, operation: A2aOperation, params: Json) =>
    rest(operation, params, { request, version, binding: 'HTTP+JSON', jsonrpcId: null }, context);
  return [
    {
      ...common,
      method: 'POST',
      path: `${base}/:operation`,
      counts: true,
      summary: `A2A ${version} over HTTP: message:send and message:stream.`,
      body: { ...body, schema: { type: 'object' } },
      handle: async (request) => {
        const operation = { 'message:send': 'SendMessage', 'message:stream': 'SendStreamingMessage' } as const;
        const name = request.params['operation'] ?? '';
        if (!Object.hasOwn(operation, name)) return errorAnswer(a2aErrorOf(failure('not_found')));
        const read = await request.readJson();
        if (!read.ok) return errorAnswer(a2aErrorOf(failure('not_json', { issues: read.issues })));
        const chosen = operation[name as keyof typeof operation];
        return run(request, chosen, read.value);
      },
    },
    {
      ...common,
      method: 'GET',
      path: version === '0.3' ? `${base}/card` : `${base}/extendedAgentCard`,
      counts: false,
      summary: 'The card as this caller may see it.',
      handle: (request) => run(request, 'GetExtendedAgentCard', {}),
    },
    {
      ...common,
      method: 'GET',
      path: `${base}/tasks`,
      counts: false,
      summary: 'List tasks.',
      handle: (request) => run(request, 'ListTasks', queryParams(request)),
    },
    {
      ...common,
      method: 'GET',
      path: `${base}/tasks/:task`,
      owned: true,
      counts: false,
      summary: 'Read a task, or follow it with TASK:subscribe.',
      handle: (request) => {
        const { id, verb } = taskNamed(request);
        if (verb !== undefined && verb !== 'subscribe') return errorAnswer(a2aErrorOf(failure('not_found')));
        const operation = verb === undefined ? 'GetTask' : 'SubscribeToTask';
        return run(request, operation, { ...queryParams(request), id });
      },
    },
    {
      ...common,
      method: 'POST',
      path: `${base}/tasks/:task`,
      owned: true,
      counts: true,
      summary: 'TASK:cancel and TASK:subscribe.',
      body: { ...body, schema: { type: 'object' } },
      handle: (request) => {
        const { id, verb } = taskNamed(request);
        const operation = verb === 'cancel' ? 'CancelTask' : verb === 'subscribe' ? 'SubscribeToTask' : undefined;
        return operation === undefined
          ? errorAnswer(a2aErrorOf(failure('not_found')))
          : run(request, operation, { id });
      },
    },
    {
      ...common,
      method: 'POST',
      path: `${base}/tasks/:task/pushNotificationConfigs`,
      owned: true,
      counts: true,
      summary: 'Send the events of a task to a URL.',
      body: { ...body, schema: { type: 'object' } },
      handle: async (request) => {
        const read = await request.readJson();
        if (!read.ok) return errorAnswer(a2aErrorOf(failure('not_json', { issues: read.issues })));
        const params = isObject(read.value) ? { ...read.value, taskId: taskIn(request) } : read.value;
        const operation = 'CreateTaskPushNotificationConfig';
        return run(request, operation, params);
      },
    },
    {
      ...common,
      method: 'GET',
      path: `${base}/tasks/:task/pushNotificationConfigs`,
      owned: true,
      counts: false,
      summary: 'List the push URLs of a task.',
      handle: (request) =>
        run(request, 'ListTaskPushNotificationConfigs', { ...queryParams(request), taskId: taskIn(request) }),
    },
    {
      ...common,
      method: 'GET',
      path: `${base}/tasks/:task/pushNotificationConfigs/:config`,
      owned: true,
      counts: false,
      summary: 'Read one push URL of a task.',
      handle: (request) => run(request, 'GetTaskPushNotificationConfig', configIn(request)),
    },
    {
      ...common,
      method: 'DELETE',
      path: `${base}/tasks/:task/pushNotificationConfigs/:config`,
      owned: true,
      counts: true,
      summary: 'Remove a push URL of a task.',
      handle: (request) => run(request, 'DeleteTaskPushNotificationConfig', configIn(request)),
    },
  ];
}

function taskIn({ params }: InboundRequest): string {
  return params['task'] ?? '';
}

function configIn(request: InboundRequest): JsonObject {
  return { taskId: taskIn(request), id: request.params['config'] ?? '' };
}

async function rest(
  operation: A2aOperation,
  params: Json,
  call: OperationCall,
  context: HttpJsonContext,
): Promise<Answer> {
  const errorAnswer = ERROR_ANSWERS[call.version];
  const unserved = versionError(call.request);
  if (unserved !== undefined) return errorAnswer(unserved);
  try {
    const result = await perform(operation, params, call, context);
    if ('error' in result) return errorAnswer(result.error);
    if ('events' in result) return eventStream(result.events, context.clock, (event) => event);
    const type = call.version === '0.3' ? 'application/json' : A2A_JSON;
    return { status: 200, headers: { 'Content-Type': type }, json: result.json };
  } catch (error) {
    const known = failureOf(error);
    if (known === undefined) throw error;
    return errorAnswer(taskErrorOf(known));
  }
}

/** `TASK` or `TASK:verb`. Ids that we make have no colon. */
function taskNamed({ params }: InboundRequest): { id: string; verb: string | undefined } {
  const [id = '', verb] = (params['task'] ?? '').split(':');
  return { id, verb };
}

/** The query parameters as the JSON of a request. */
function queryParams({ query }: InboundRequest): JsonObject {
  const numbers = new Set(['historyLength', 'pageSize']);
  return Object.fromEntries(
    [...query].map(([name, text]): [string, Json] => {
      if (numbers.has(name) && /^\d{1,9}$/.test(text)) return [name, Number(text)];
      return [name, name === 'includeArtifacts' && (text === 'true' || text === 'false') ? text === 'true' : text];
    }),
  );
}

const ERROR_ANSWERS: Readonly<Record<A2aVersion, (error: A2aError) => Answer>> = {
  /** A `google.rpc.Status` (specification §11.6). */
  '1.0': ({ http, status, message, details }) => {
    const error = { code: http, status, message, details: [...details] };
    return { status: http, headers: { 'Content-Type': A2A_JSON }, json: { error } };
  },
  /** The error object of JSON-RPC, which clients of 0.3 expect. */
  '0.3': ({ http, code, message, details }) => ({ status: http, json: { code, message, data: [...details] } }),
};

const A2A_JSON = 'application/a2a+json';

import {
  type Clock,
  type EventId,
  failureOf,
  type LfA2aTasks,
  type NumberedEvent,
  type OpenTask,
  type Principal,
} from '@dragoman/core';
import { decodeJsonRpc, type Failure, failure, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import {
  type A2aError,
  type A2aOperation,
  type A2aVersion,
  a2aError,
  a2aErrorOf,
  decodeA2aRequest,
  eventTo03,
  isDecodable,
  isTerminal,
  operationOf,
  paramsFrom03,
  type Requests,
  type Task,
  taskTo03,
  versionAsked,
} from '@dragoman/protocols/lf-a2a';
import { sseStream } from '../edges/sse.ts';
import type { Answer, InboundRequest, Route, RouteParameter } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';

export interface LfA2aContext {
  readonly tasks: LfA2aTasks;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** The agent behind a base URL; `undefined` in the path means the default agent. */
  readonly agentIn: (id: string | undefined) => string | undefined;
  /** The card of an agent as this caller may see it; `undefined`: there is no such agent. */
  readonly card: (agentId: string, request: InboundRequest, version: A2aVersion) => JsonObject | undefined;
  /** Whether the card of an agent is shown without a key. */
  readonly isPublic: (agentId: string) => boolean;
  readonly canReach: (principal: Principal, agentId: string) => boolean;
  readonly catalog: (request: InboundRequest) => JsonObject;
}

/**
 * Linux Foundation A2A 1.0 and 0.3. Every agent has a base URL: JSON-RPC is posted to it, HTTP+JSON of 1.0 has its paths below it and
 * that of 0.3 below `/v1`. The method tells the version of a JSON-RPC call, the path that of an HTTP+JSON call.
 */
export function lfA2aRoutes(context: LfA2aContext): Route[] {
  const bases = ['/lf-a2a', '/lf-a2a/agents/:agent_id'].flatMap((base) => [
    cardRoute(`${base}/.well-known/agent-card.json`, context),
    jsonRpcRoute(base, context),
    ...['', '/v1'].flatMap((prefix) => restRoutes(`${base}${prefix}`, prefix === '' ? '1.0' : '0.3', context)),
  ]);
  return [...bases, catalogRoute('/lf-a2a/agents', context), catalogRoute('/.well-known/ai-catalog.json', context)];
}

function catalogRoute(path: string, { catalog }: LfA2aContext): Route {
  return {
    method: 'GET',
    path,
    access: 'open',
    counts: false,
    summary: 'The A2A agents that this caller may see, each with the URL of its card.',
    handle: (request) => ({ status: 200, json: catalog(request) }),
  };
}

function cardRoute(path: string, { card, agentIn, isPublic, canReach }: LfA2aContext): Route {
  return {
    method: 'GET',
    path,
    access: 'open',
    counts: false,
    summary: 'The A2A card of an agent, for the version in A2A-Version.',
    parameters: [A2A_VERSION],
    handle: (request) => {
      const agentId = agentIn(request.params['agent_id']);
      const { principal } = request;
      if (principal === undefined && (agentId === undefined || !isPublic(agentId)))
        return failure('unauthenticated', NO_CARD);
      const isVisible =
        agentId !== undefined && (isPublic(agentId) || (principal !== undefined && canReach(principal, agentId)));
      const json = isVisible ? card(agentId, request, versionOf(request) ?? '1.0') : undefined;
      if (json === undefined) return failure('not_found');
      return {
        status: 200,
        headers: { 'Cache-Control': 'private, max-age=60', Vary: 'A2A-Version, Authorization' },
        json,
      };
    },
  };
}

function jsonRpcRoute(path: string, context: LfA2aContext): Route {
  return {
    method: 'POST',
    path,
    access: 'agent',
    counts: true,
    summary: 'A2A over JSON-RPC, 1.0 and 0.3; streaming methods answer as SSE.',
    parameters: [A2A_VERSION],
    body: { contentTypes: ['application/json'], maxBytes: context.maxBytes, schema: { type: 'object' } },
    handle: (request) => jsonRpc(request, context),
  };
}

async function jsonRpc(request: InboundRequest, context: LfA2aContext): Promise<Answer | Failure> {
  const read = await request.readJson();
  if (!read.ok) return rpcError(null, a2aErrorOf(failure('not_json', { issues: read.issues })));
  const { value: json } = read;
  const id = isObject(json) && isId(json['id']) ? json['id'] : null;
  const message = decodeJsonRpc(json);
  if (!message.ok) {
    const error = a2aErrorOf(failure('invalid_message', { issues: message.issues }));
    return rpcError(id, { ...error, code: -32600 });
  }
  if (message.value.kind !== 'request') return rpcError(id, notARequest());
  const { method, params = {} } = message.value.message as { method: string; params?: Json };
  const known = operationOf(method);
  if (known === undefined) return rpcError(id, a2aErrorOf(failure('unknown_method', {}, `Unknown method ${method}.`)));
  const asked = request.headers['a2a-version'];
  if (typeof asked === 'string' && versionAsked(asked) === undefined) return rpcError(id, unknownVersion(asked));
  const { operation, version } = known;
  const call: OperationCall = { request, version, binding: 'JSONRPC', jsonrpcId: id };
  const wrap = (result: Json): JsonObject => ({ jsonrpc: '2.0', id, result });
  try {
    const result = await perform(
      operation,
      version === '0.3' ? paramsFrom03(operation, params) : params,
      call,
      context,
    );
    if ('error' in result) return rpcError(id, result.error);
    if ('json' in result) return { status: 200, json: wrap(result.json) };
    return sse(result.events, context.clock, (event) => wrap(event));
  } catch (error) {
    const known = failureOf(error);
    if (known === undefined) throw error;
    return HTTP_ERRORS.has(known.code) ? known : rpcError(id, taskErrorOf(known));
  }
}

/** An operation's answer before a binding words it. Errors of A2A itself are data; other failures are thrown. */
type Performed =
  | { readonly json: Json }
  | { readonly events: AsyncIterable<readonly WordedEvent[]> }
  | { readonly error: A2aError };

interface WordedEvent {
  readonly id: string;
  readonly json: Json;
}

interface OperationCall {
  readonly request: InboundRequest;
  readonly version: A2aVersion;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly jsonrpcId: string | number | null;
}

async function perform(
  operation: A2aOperation,
  params: Json,
  call: OperationCall,
  context: LfA2aContext,
): Promise<Performed> {
  const { agentIn, card } = context;
  const agentId = agentIn(call.request.params['agent_id']);
  if (agentId === undefined) return { error: a2aErrorOf(failure('no_route')) };
  if (operation === 'GetExtendedAgentCard') {
    const json = card(agentId, call.request, call.version);
    return json === undefined ? { error: a2aErrorOf(failure('no_route')) } : { json };
  }
  if (!isDecodable(operation)) return { error: notOffered(operation) };
  const decoded = decodeA2aRequest(operation, params);
  if (!decoded.ok) return { error: a2aErrorOf(failure('invalid_message', { issues: decoded.issues })) };
  return OPERATE[operation](decoded.value as never, { ...call, agentId }, context);
}

type Operate<Name extends keyof Requests> = (
  params: Requests[Name],
  call: OperationCall & { readonly agentId: string },
  context: LfA2aContext,
) => Promise<Performed>;

const OPERATE: { readonly [Name in keyof Requests]: Operate<Name> } = {
  SendMessage: async (params, call, context) => {
    const refused = refusedMessage(params);
    if (refused !== undefined) return { error: refused };
    const opened = await context.tasks.send(params, sendContext(call));
    const { historyLength, returnImmediately = false } = params.configuration ?? {};
    if (returnImmediately) return { json: sent(opened.task, call.version) };
    const fold = await opened.ended();
    return { json: sent(fold.task({ historyLength }), call.version) };
  },

  SendStreamingMessage: async (params, call, context) => {
    const refused = refusedMessage(params);
    if (refused !== undefined) return { error: refused };
    return streamOf(await context.tasks.send(params, sendContext(call)), call.version);
  },

  GetTask: async ({ id, historyLength }, { request, agentId, version }, { tasks }) => {
    const fold = await tasks.find(callerOf(request), agentId, id);
    return fold === undefined ? notFound() : { json: taskIn(fold.task({ historyLength }), version) };
  },

  ListTasks: async () => ({ error: notOffered('ListTasks') }),

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
};

/** Without questions, nothing can be said to a task that runs or has ended (specification §3.4.3). */
function refusedMessage({ message }: Requests['SendMessage']): A2aError | undefined {
  if (message.taskId === undefined) return undefined;
  return a2aError('UnsupportedOperation', 'The task takes no more messages. Send one without taskId to start another.');
}

function sendContext({ request, agentId, binding, version, jsonrpcId }: OperationCall & { readonly agentId: string }) {
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
  if (text === 'task') return { sequence: -1, index: 0 };
  const [, sequence, index] = /^(\d{1,15})\.(\d{1,3})$/.exec(String(text)) ?? [];
  return sequence === undefined ? undefined : { sequence: Number(sequence), index: Number(index) };
}

function sent(task: Task, version: A2aVersion): Json {
  return version === '0.3' ? taskTo03(task) : ({ task } as unknown as Json);
}

function taskIn(task: Task, version: A2aVersion): Json {
  return version === '0.3' ? taskTo03(task) : (task as unknown as Json);
}

function sse(events: AsyncIterable<readonly WordedEvent[]>, clock: Clock, wrap: (event: Json) => Json): Answer {
  async function* texts() {
    for await (const batch of events) {
      yield batch.map(({ id, json }) => `id: ${id}\ndata: ${JSON.stringify(wrap(json))}\n\n`).join('');
    }
  }
  return sseStream(texts(), { clock });
}

function restRoutes(base: string, version: A2aVersion, context: LfA2aContext): Route[] {
  const body = { contentTypes: ['application/json', 'application/a2a+json'], maxBytes: context.maxBytes };
  const common = { access: 'agent', parameters: [A2A_VERSION], wordFailure: restFailure } as const;
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
        if (!Object.hasOwn(operation, name)) return restAnswer(a2aErrorOf(failure('not_found')));
        const read = await request.readJson();
        if (!read.ok) return restAnswer(a2aErrorOf(failure('not_json', { issues: read.issues })));
        const chosen = operation[name as keyof typeof operation];
        return run(request, chosen, version === '0.3' ? paramsFrom03(chosen, read.value) : read.value);
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
        if (verb !== undefined && verb !== 'subscribe') return restAnswer(a2aErrorOf(failure('not_found')));
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
        return operation === undefined ? restAnswer(a2aErrorOf(failure('not_found'))) : run(request, operation, { id });
      },
    },
  ];
}

async function rest(
  operation: A2aOperation,
  params: Json,
  call: OperationCall,
  context: LfA2aContext,
): Promise<Answer> {
  const asked = call.request.headers['a2a-version'];
  if (typeof asked === 'string' && versionAsked(asked) === undefined) return restAnswer(unknownVersion(asked));
  try {
    const result = await perform(operation, params, call, context);
    if ('error' in result) return restAnswer(result.error);
    if ('events' in result) return sse(result.events, context.clock, (event) => event);
    return { status: 200, headers: { 'Content-Type': A2A_JSON }, json: result.json };
  } catch (error) {
    const known = failureOf(error);
    if (known === undefined) throw error;
    return restAnswer(taskErrorOf(known));
  }
}

/** `TASK` or `TASK:verb`. Ids that we make have no colon. */
function taskNamed({ params }: InboundRequest): { id: string; verb: string | undefined } {
  const [id = '', verb] = (params['task'] ?? '').split(':');
  return { id, verb };
}

/** Query parameters as the JSON they stand for. */
function queryParams({ query }: InboundRequest): JsonObject {
  const numbers = new Set(['historyLength', 'pageSize']);
  return Object.fromEntries(
    [...query].map(([name, text]): [string, Json] => {
      if (numbers.has(name) && /^\d{1,9}$/.test(text)) return [name, Number(text)];
      return [name, name === 'includeArtifacts' && (text === 'true' || text === 'false') ? text === 'true' : text];
    }),
  );
}

function rpcError(id: string | number | null, { code, message, details }: A2aError): Answer {
  return { status: 200, json: { jsonrpc: '2.0', id, error: { code, message, data: [...details] } } };
}

function restFailure(known: Failure): Answer {
  return restAnswer(a2aErrorOf(known));
}

/** The body of an error is a `google.rpc.Status` (specification §11.6). */
function restAnswer({ http, status, message, details }: A2aError): Answer {
  const error = { code: http, status, message, details: [...details] };
  return { status: http, headers: { 'Content-Type': A2A_JSON }, json: { error } };
}

/** A message whose id was used before with other content is an invalid one. */
function taskErrorOf(known: Failure): A2aError {
  const error = a2aErrorOf(known);
  return known.code === 'conflict' ? { ...error, code: -32602, http: 400, status: 'INVALID_ARGUMENT' } : error;
}

function notFound(): Performed {
  return { error: a2aError('TaskNotFound', 'Task not found.') };
}

function notOffered(operation: A2aOperation): A2aError {
  const name = operation.includes('Push') ? 'PushNotificationNotSupported' : 'UnsupportedOperation';
  return a2aError(name, `${operation} is not supported by this server.`);
}

function unknownVersion(asked: string): A2aError {
  return a2aError(
    'VersionNotSupported',
    `A2A-Version ${JSON.stringify(asked.slice(0, 32))} is not supported; use 1.0 or 0.3.`,
  );
}

function notARequest(): A2aError {
  return { ...a2aErrorOf(failure('invalid_message', {}, 'Expected a JSON-RPC request with an id.')), code: -32600 };
}

/** The version a client asks for by `A2A-Version`, in a header or the query; `undefined`: one that is not served. */
export function versionOf({ headers, query }: InboundRequest): A2aVersion | undefined {
  const header = headers['a2a-version'] ?? query.get('A2A-Version') ?? undefined;
  return versionAsked(typeof header === 'string' ? header : undefined);
}

function isId(id: Json | undefined): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

/** These have an HTTP status of their own in every binding. */
const HTTP_ERRORS: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden', 'rate_limited', 'busy']);

const NO_CARD = { suggestions: ['send a key, or list the agent in lf_a2a.public_cards'] };

const A2A_JSON = 'application/a2a+json';

const A2A_VERSION: RouteParameter = {
  in: 'header',
  name: 'A2A-Version',
  description: 'The version of A2A the client speaks: 1.0 or 0.3.',
  schema: { type: 'string' },
};

import type { Clock, Principal, UnreadBudget } from '@dragoman/core';
import { type Failure, failure, isObject, type JsonObject, show } from '@dragoman/protocols';
import { negotiateType, notAcceptable } from '../edges/accept.ts';
import { type StreamRecord, sseRecord, sseStream } from '../edges/sse.ts';
import type { Answer, InboundRequest, Route, RouteParameter } from '../http/route.ts';
import { AcpHttpConnection, CONNECTION, MOST_STREAMS } from './acp-http-connection.ts';
import type { AcpContext } from './acp-socket.ts';
import { callerOf } from './inbound-fields.ts';
import { idAtNode, type OwnNode, ofOtherNode } from './other-node.ts';
import { LAST_EVENT_ID } from './route-parameters.ts';

export interface AcpHttpContext extends AcpContext {
  readonly unread: UnreadBudget;
  readonly maxBytes: number;
  /** This node of the cluster; absent if a single process owns the store. */
  readonly cluster: OwnNode | undefined;
}

/** ACP over Streamable HTTP: POST takes one message, GET streams the answers, DELETE closes the connection. */
export function acpHttpRoutes(context: AcpHttpContext, connections: AcpHttpConnections): Route[] {
  return ['/acp', '/acp/agents/:agent_id'].flatMap((path) => {
    // The engine counts each recorded request; the HTTP request itself does not count.
    const common = { path, access: 'agent', counts: false } as const;
    return [
      {
        ...common,
        method: 'POST',
        summary: 'One ACP message. initialize opens a connection and is answered here, everything else on a stream.',
        parameters: [CONNECTION_ID, SESSION_ID],
        body: { contentTypes: ['application/json'], maxBytes: context.maxBytes, schema: { type: 'object' } },
        handle: (request) => receive(request, connections),
      },
      {
        ...common,
        method: 'GET',
        summary: 'The messages of an ACP connection, or of one of its sessions, as SSE. An upgrade opens a WebSocket.',
        parameters: [CONNECTION_ID, SESSION_ID, LAST_EVENT_ID],
        answers: { [SSE]: { type: 'string' } },
        handle: (request) => stream(request, connections, context.clock),
      },
      {
        ...common,
        method: 'DELETE',
        summary: 'End an ACP connection. Prompts that are running continue.',
        parameters: [CONNECTION_ID],
        handle: (request) => {
          const connection = connections.find(request);
          if (!(connection instanceof AcpHttpConnection)) return connection;
          connections.end(connection);
          return { status: 202 };
        },
      },
    ] satisfies Route[];
  });
}

async function receive(request: InboundRequest, connections: AcpHttpConnections): Promise<Answer | Failure> {
  const read = await request.readJson();
  if (!read.ok) return failure('not_json', { issues: read.issues });
  const { value: message } = read;
  if (Array.isArray(message)) return failure('capability_missing', {}, 'JSON-RPC batches are not supported.');
  if (!isObject(message)) return failure('invalid_message', {}, `Expected a JSON-RPC message; got ${show(message)}.`);
  if (message['method'] === 'initialize' && headerOf(request, CONNECTION_ID) === undefined) {
    // A notification would never be answered.
    if (message['id'] === undefined) return failure('invalid_message', {}, 'initialize must have an id.');
    return connections.open(request, message);
  }
  const connection = connections.find(request);
  if (!(connection instanceof AcpHttpConnection)) return connection;
  const { id, method, params } = message;
  if (method === 'initialize') return failure('invalid_message', {}, 'This connection is initialized already.');
  const stream = streamOf(request, isObject(params) ? params['sessionId'] : undefined);
  if (typeof stream !== 'string') return stream;
  if (id !== undefined && method !== undefined && connection.isAnswering(id)) {
    return failure(
      'conflict',
      {},
      `A request with the id ${show(id)} is still running on this connection; use another id.`,
    );
  }
  if (!connection.hasRoomFor(stream)) {
    const suggestions = ['close sessions with session/close', 'or open another connection'];
    return failure('busy', { suggestions }, `A connection has at most ${MOST_STREAMS - 1} sessions over HTTP.`);
  }
  void connection.receive(message, stream);
  return { status: 202 };
}

function stream(request: InboundRequest, connections: AcpHttpConnections, clock: Clock): Answer | Failure {
  const connection = connections.find(request);
  if (!(connection instanceof AcpHttpConnection)) return connection;
  if (negotiateType(request.headers.accept, [SSE]) === undefined) return notAcceptable([SSE]);
  const name = headerOf(request, SESSION_ID) ?? CONNECTION;
  if (!connection.hasRoomFor(name)) return failure('busy', {}, `A connection has at most ${MOST_STREAMS} streams.`);
  const last = headerOf(request, LAST_EVENT_ID);
  const after = last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) : undefined;
  const canResume = after !== undefined && connection.queueOf(name).canResume(after);
  return sseStream(events(connection.read(name, canResume ? after : undefined)), { clock });
}

async function* events(records: AsyncIterable<StreamRecord>) {
  // Sent at once, so that the client knows that the stream is open.
  yield ': listening\n\n';
  for await (const record of records) yield sseRecord({ event: 'message', ...record });
}

/** The stream of the session that the header or the message names. */
function streamOf(request: InboundRequest, named: unknown): string | Failure {
  const given = headerOf(request, SESSION_ID);
  if (typeof named !== 'string') return given ?? CONNECTION;
  if (given === undefined || given === named) return named;
  const message = `Acp-Session-Id must be the sessionId of the message, ${show(named)}; got ${show(given)}`;
  return failure('invalid_message', { issues: [{ pointer: '/params/sessionId', code: 'const', message }] }, message);
}

function headerOf({ headers }: InboundRequest, { name }: RouteParameter): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The open connections over HTTP. Each is visible only to the caller that opened it. */
export class AcpHttpConnections {
  readonly #context: AcpHttpContext;
  /** Least recently used first. */
  readonly #byId = new Map<string, AcpHttpConnection>();

  constructor(context: AcpHttpContext) {
    this.#context = context;
  }

  /** Opens a connection and answers its first message. */
  async open(request: InboundRequest, message: JsonObject): Promise<Answer | Failure> {
    const { clock, ids, unread, engine, log } = this.#context;
    const principal = callerOf(request);
    if (!this.#makeRoom(principal)) {
      return failure('busy', { retry_after: 5 }, `You have ${MOST_PER_CALLER} ACP connections open already.`);
    }
    const account = unread.open({ principal, address: request.address, drop: () => this.end(connection) });
    const id = idAtNode(ids.uuid(), this.#context.cluster);
    const connection = new AcpHttpConnection({
      id,
      principal,
      agentId: request.params['agent_id'],
      engine,
      clock,
      ids,
      log,
      account,
    });
    this.#byId.set(id, connection);
    const answer = await connection.initialize(message);
    if (answer['error'] === undefined) return { status: 200, headers: { 'Acp-Connection-Id': id }, json: answer };
    this.end(connection);
    return { status: 400, json: answer };
  }

  find(request: InboundRequest): AcpHttpConnection | Failure | Answer {
    const id = headerOf(request, CONNECTION_ID);
    if (id === undefined) {
      const suggestions = ['POST initialize first, and send the Acp-Connection-Id of its answer'];
      return failure('invalid_message', { suggestions }, 'The header Acp-Connection-Id is missing.');
    }
    const found = this.#byId.get(id);
    const isOwn = found?.owner === request.principal?.id && found?.agentId === request.params['agent_id'];
    if (found === undefined || !isOwn)
      return ofOtherNode(id, this.#context.cluster, ELSEWHERE) ?? failure('not_found', {}, 'ACP connection not found.');
    this.#byId.delete(id);
    this.#byId.set(id, found);
    return found;
  }

  end(connection: AcpHttpConnection): void {
    this.#byId.delete(connection.id);
    connection.end();
  }

  /** Call when the server stops: running prompts are still answered. */
  finish(): void {
    for (const connection of this.#byId.values()) connection.finish();
  }

  /** Closes the caller's least recently used connection without a reader, if the caller has too many connections. */
  #makeRoom({ id }: Principal): boolean {
    const own = [...this.#byId.values()].filter(({ owner }) => owner === id);
    if (own.length < MOST_PER_CALLER) return true;
    const unread = own.find(({ isRead }) => !isRead);
    if (unread !== undefined) this.end(unread);
    return unread !== undefined;
  }
}

const ELSEWHERE = { what: 'connection', header: 'Acp-Connection-Id', instead: 'ACP over a WebSocket' };
const SSE = 'text/event-stream';
const MOST_PER_CALLER = 32;
const text = { type: 'string' } as const;
const CONNECTION_ID: RouteParameter = {
  in: 'header',
  name: 'Acp-Connection-Id',
  description: 'The connection, as the answer to initialize named it. Every request but initialize needs it.',
  schema: text,
};
const SESSION_ID: RouteParameter = {
  in: 'header',
  name: 'Acp-Session-Id',
  description: 'The session that a message or a stream belongs to. Default: that of the message, or none.',
  schema: text,
};

import type { Clock, McpContext, McpEndpoint, McpReply } from '@dragoman/core';
import { failure, type JsonObject } from '@dragoman/protocols';
import { errorMember, MCP_VERSIONS, type McpError, mcpErrorOf } from '@dragoman/protocols/mcp';
import { sseStream } from '../edges/sse.ts';
import type { Answer, InboundRequest, Route, RouteParameter } from '../http/route.ts';
import { callerOf, idempotencyKeyOf } from './inbound-fields.ts';

export interface McpRouteContext {
  readonly endpoint: McpEndpoint;
  readonly clock: Clock;
  readonly maxBytes: number;
}

/**
 * Streamable HTTP of every revision: POST for messages; GET and DELETE for sessions, which only revisions before
 * 2026-07-28 have.
 */
export function mcpRoutes(context: McpRouteContext): Route[] {
  return ['/mcp', '/mcp/agents/:agent_id'].flatMap((path) => {
    const common = { path, access: 'agent', parameters: PARAMETERS } as const;
    return [
      {
        ...common,
        method: 'POST',
        // Each request that a message starts is counted by itself. Lists, pings and reads are free.
        counts: false,
        summary: 'One MCP message, of a session (2024-11-05 to 2025-11-25) or by itself (2026-07-28).',
        answers: { 'application/json': { type: 'object' }, 'text/event-stream': { type: 'string' } },
        body: { contentTypes: ['application/json'], maxBytes: context.maxBytes, schema: { type: 'object' } },
        handle: (request) => receive(request, context),
      },
      {
        ...common,
        method: 'GET',
        counts: false,
        summary: 'The notices of an MCP session, as SSE.',
        answers: { 'text/event-stream': { type: 'string' } },
        handle: (request) => notices(request, context),
      },
      {
        ...common,
        method: 'DELETE',
        counts: false,
        summary: 'End an MCP session.',
        handle: (request) => {
          const error = context.endpoint.end(contextOf(request));
          return error === undefined ? { status: 204 } : errorAnswer(error);
        },
      },
    ] satisfies Route[];
  });
}

async function receive(request: InboundRequest, { endpoint, clock }: McpRouteContext): Promise<Answer> {
  const read = await request.readJson();
  if (!read.ok) return errorAnswer({ ...mcpErrorOf(failure('not_json', { issues: read.issues })), status: 400 });
  const idempotencyKey = idempotencyKeyOf(request);
  if (typeof idempotencyKey === 'object') return errorAnswer({ ...mcpErrorOf(idempotencyKey), status: 400 });
  const reply = await endpoint.receive(read.value, { ...contextOf(request), idempotencyKey });
  if ('accepted' in reply) return { status: 202 };
  if ('message' in reply) return answerOf(reply);
  return streamed(reply.messages, clock);
}

/** An answer alone is sent as JSON. If other messages come before it, all are sent as a stream. */
async function streamed(messages: AsyncGenerator<JsonObject, void, undefined>, clock: Clock): Promise<Answer> {
  const first = await messages.next();
  // The call was cancelled, so no answer is awaited.
  if (first.done === true) return { status: 202 };
  if ('id' in first.value && !('method' in first.value)) return { status: 200, json: first.value };
  return sseStream(events(first.value, messages), { clock });
}

async function* events(first: JsonObject, rest: AsyncGenerator<JsonObject, void, undefined>) {
  yield event(first);
  for await (const message of rest) yield event(message);
}

function notices(request: InboundRequest, { endpoint, clock }: McpRouteContext): Answer {
  const messages = endpoint.notices(contextOf(request));
  if (!(Symbol.asyncIterator in messages)) return errorAnswer(messages);
  async function* texts() {
    // Sent at once, so that the client knows that it is listening.
    yield ': listening\n\n';
    for await (const message of messages as AsyncIterable<JsonObject>) yield event(message);
  }
  return sseStream(texts(), { clock });
}

function event(message: JsonObject): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function contextOf(request: InboundRequest): McpContext {
  const { headers, params, signal } = request;
  return {
    principal: callerOf(request),
    agentId: params['agent_id'],
    headers: {
      version: one(headers['mcp-protocol-version']),
      method: one(headers['mcp-method']),
      name: one(headers['mcp-name']),
    },
    sessionId: one(headers['mcp-session-id']),
    received: { dialect: 'mcp', text: request.body },
    signal,
  };
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.join(', ');
}

function answerOf({ message, status, sessionId }: Extract<McpReply, { message: JsonObject }>): Answer {
  return { status, ...(sessionId !== undefined && { headers: { 'Mcp-Session-Id': sessionId } }), json: message };
}

function errorAnswer(error: McpError): Answer {
  return { status: error.status, json: { jsonrpc: '2.0', error: errorMember(error) } };
}

const text = { type: 'string' } as const;
const PARAMETERS: readonly RouteParameter[] = [
  {
    in: 'header',
    name: 'Mcp-Session-Id',
    description: 'The session, as initialize gave it. Not in 2026-07-28.',
    schema: text,
  },
  {
    in: 'header',
    name: 'MCP-Protocol-Version',
    description: 'The revision of the message.',
    schema: { enum: [...MCP_VERSIONS] },
  },
  { in: 'header', name: 'Mcp-Method', description: 'The method in the body. 2026-07-28 only.', schema: text },
  {
    in: 'header',
    name: 'Mcp-Name',
    description: 'The tool, prompt or resource in the body. 2026-07-28 only.',
    schema: text,
  },
];

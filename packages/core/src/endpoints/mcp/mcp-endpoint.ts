import { decodeJsonRpc, failure, isObject, JSON_RPC_CODES, type Json, type JsonObject } from '@dragoman/protocols';
import {
  decodeMcpParams,
  errorMember,
  isModern,
  legacyVersionFor,
  MCP_LEGACY_VERSIONS,
  MCP_META,
  MCP_MODERN_VERSION,
  MCP_VERSIONS,
  type McpError,
  mcpError,
  mcpErrorOf,
  metaOf,
  readModern,
  unsupportedVersion,
} from '@dragoman/protocols/mcp';
import type { Engine } from '../../engine/engine.ts';
import type { KnowledgeBases } from '../../knowledge/bases.ts';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import { failureOf } from '../../refusals/refused.ts';
import type { Store } from '../../store/store.ts';
import type { StoredWorkflows } from '../../targets/stored-workflows.ts';
import type { McpServers } from '../../tools/mcp/mcp-servers.ts';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import { McpCatalogue } from './catalogue.ts';
import { McpCompletions } from './completions.ts';
import { type McpCall, type McpContext, McpRefused, type McpReply } from './mcp-call.ts';
import type { McpNodes } from './mcp-nodes.ts';
import {
  LEGACY_METHODS,
  MCP_CAPABILITIES,
  MCP_INSTRUCTIONS,
  type McpFeatures,
  type McpMethod,
  MODERN_METHODS,
} from './methods.ts';
import { McpNotices } from './notices.ts';
import { McpPrompts } from './prompts.ts';
import { McpResources } from './resources.ts';
import { Seals } from './seals.ts';
import { knownCapabilities, type McpSession, McpSessions } from './sessions.ts';
import { McpTasks } from './tasks.ts';
import { CANCELLED, ToolCalls } from './tool-calls.ts';
import { Upstream } from './upstream.ts';

export interface McpEndpointOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly tools: ToolRegistry;
  /** The MCP servers of the configuration. */
  readonly servers: Pick<McpServers, 'servers' | 'ready'>;
  readonly stored: StoredWorkflows;
  readonly bases: Pick<KnowledgeBases, 'listFor'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The version of this server. */
  readonly version: string;
  readonly waitSeconds: number;
  readonly maxListedTools: number;
  readonly keepMs: number;
  readonly nodes?: McpNodes | undefined;
}

/**
 * The MCP server, for any transport. Both eras are served side by side: the version in a message decides (2026-07-28, Versioning).
 * Every method is one row of a table; each era has its own table.
 */
export class McpEndpoint {
  readonly #options: McpEndpointOptions;
  readonly #sessions: McpSessions;
  readonly #features: McpFeatures;

  constructor(options: McpEndpointOptions) {
    const { engine, clock, ids, tools, maxListedTools } = options;
    const catalogue = new McpCatalogue(tools);
    const upstream = new Upstream(options);
    const prompts = new McpPrompts(catalogue, upstream);
    this.#options = options;
    const seals = new Seals(options.nodes?.key);
    this.#sessions = new McpSessions({ ids, seals, nodes: options.nodes });
    this.#features = {
      catalogue,
      calls: new ToolCalls({ ...options, catalogue, seals }),
      prompts,
      resources: new McpResources({ ...options, upstream }),
      completions: new McpCompletions({ ...options, catalogue, prompts, upstream }),
      tasks: new McpTasks(options),
      notices: new McpNotices({ catalogue, callers: engine.callers, clock }),
      maxListedTools,
    };
  }

  /** Answers one message. */
  async receive(json: Json, context: McpContext): Promise<McpReply> {
    const decoded = decodeJsonRpc(json);
    const id = isObject(json) && isId(json['id']) ? json['id'] : undefined;
    if (!decoded.ok) {
      const { issues } = decoded;
      return refused(id, { ...mcpErrorOf(failure('invalid_message', { issues }, issues[0]?.message)), ...INVALID });
    }
    const { kind } = decoded.value;
    const message = decoded.value.message as unknown as JsonObject;
    if (kind === 'request') {
      if (id === undefined) return refused(id, { ...mcpError(0, 'id must be a string or an integer.'), ...INVALID });
      return isModern(message, context.headers)
        ? this.#modern(message, id, context)
        : this.#legacy(message, id, context);
    }
    if (kind === 'notification' && isModern(message, context.headers)) return { accepted: true };
    const session = this.#session(context);
    if ('error' in session) return refused(undefined, session.error);
    const { method, params } = message;
    if (method === 'notifications/cancelled' && isObject(params))
      this.#cancel(session.found, params['requestId'] ?? null);
    const isResponse = kind === 'success' || kind === 'error';
    if (isResponse && typeof id === 'string') this.#features.calls.takeResponse(id, message, context.principal);
    return { accepted: true };
  }

  /** The notices of a session, for its GET stream; an error when there is no such session. A newer stream ends the one before. */
  notices(context: McpContext): AsyncGenerator<JsonObject, void, undefined> | McpError {
    const session = this.#session(context);
    if ('error' in session) return session.error;
    session.found.endNotices?.();
    const newer = new AbortController();
    session.found.endNotices = () => newer.abort();
    const signal = AbortSignal.any([newer.signal, context.signal]);
    return this.#features.notices.messages(context, { watched: { tools: true, prompts: true }, signal });
  }

  /** Ends a session; an error when there is none. Its running requests continue. */
  end(context: McpContext): McpError | undefined {
    const session = this.#session(context);
    if ('error' in session) return session.error;
    this.#sessions.end(session.found.id);
    return undefined;
  }

  #cancel(session: McpSession, callId: Json): void {
    const call = session.calls.get(callId);
    if (call === undefined) this.#options.nodes?.cancel(session.id, callId);
    else call.abort();
  }

  /** Called for another node: cancels a call of a session, if this node answers it. */
  cancelHere(sessionId: string, callId: Json): void {
    this.#sessions.get(sessionId)?.calls.get(callId)?.abort();
  }

  /** Ends every open stream. */
  stop(): void {
    this.#features.notices.stop();
  }

  async #modern(message: JsonObject, id: Json, context: McpContext): Promise<McpReply> {
    const client = readModern(message, context.headers);
    if ('code' in client) return refused(id, client);
    const { name, version } = client.info ?? {};
    const call: McpCall = {
      ...context,
      id,
      session: undefined,
      version: MCP_MODERN_VERSION,
      client: clientName(name, version),
      capabilities: client.capabilities,
      meta: metaOf(message),
    };
    const method = String(message['method']);
    if (!Object.hasOwn(MODERN_METHODS, method)) return refused(id, { ...unknownMethod(method), status: 404 });
    return this.#answer(MODERN_METHODS[method] as McpMethod, message, call);
  }

  async #legacy(message: JsonObject, id: Json, context: McpContext): Promise<McpReply> {
    const method = String(message['method']);
    const named = context.headers?.version;
    if (named !== undefined && !MCP_VERSIONS.includes(named)) return refused(id, unsupportedVersion(named));
    if (method === 'initialize') return this.#initialize(message, id, context);
    const session = this.#session(context);
    if ('error' in session) return refused(id, session.error);
    const { version, client, capabilities } = session.found;
    const call: McpCall = {
      ...context,
      id,
      session: session.found,
      cancelling: new AbortController(),
      version,
      client,
      capabilities,
      meta: metaOf(message),
    };
    if (!Object.hasOwn(LEGACY_METHODS, method)) return refused(id, unknownMethod(method));
    return this.#answer(LEGACY_METHODS[method] as McpMethod, message, call);
  }

  #initialize(message: JsonObject, id: Json, context: McpContext): McpReply {
    const params = decodeMcpParams('initialize', message['params'] ?? {});
    if (!params.ok)
      return refused(id, mcpErrorOf(failure('invalid_message', { issues: params.issues }, params.issues[0]?.message)));
    const { protocolVersion, capabilities, clientInfo } = params.value;
    const version = legacyVersionFor(protocolVersion);
    const session = this.#sessions.open(context.principal, {
      agentId: context.agentId,
      version,
      client: clientName(clientInfo.name, clientInfo.version),
      capabilities: knownCapabilities(capabilities),
    });
    const result = {
      protocolVersion: version,
      capabilities: MCP_CAPABILITIES,
      instructions: MCP_INSTRUCTIONS,
      serverInfo: this.#serverInfo(),
    };
    return { message: { jsonrpc: '2.0', id, result }, status: 200, sessionId: session.id };
  }

  #answer(method: McpMethod, message: JsonObject, call: McpCall): McpReply | Promise<McpReply> {
    const { id, session, cancelling } = call;
    try {
      const given = method(this.#features, message['params'] ?? {}, call);
      if (Symbol.asyncIterator in given) {
        // Registered now, because a cancellation may arrive before the stream is read.
        if (cancelling !== undefined) session?.calls.set(id, cancelling);
        return { messages: this.#stream(given, call) };
      }
      const responded = (result: JsonObject): McpReply => ({ message: this.#response(result, call), status: 200 });
      return given instanceof Promise
        ? given.then(responded, (error) => refused(id, errorOf(error)))
        : responded(given);
    } catch (error) {
      return refused(id, errorOf(error));
    }
  }

  async *#stream(
    given: AsyncGenerator<JsonObject, JsonObject, undefined>,
    call: McpCall,
  ): AsyncGenerator<JsonObject, void, undefined> {
    const { id, session, cancelling } = call;
    try {
      yield this.#response(yield* given, call);
    } catch (error) {
      // A cancelled call gets no response (Cancellation, Behavior Requirements).
      if (error !== CANCELLED) yield { jsonrpc: '2.0', id, error: errorMember(errorOf(error)) };
    } finally {
      if (session?.calls.get(id) === cancelling) session?.calls.delete(id);
    }
  }

  #response(result: JsonObject, { id, session }: McpCall): JsonObject {
    if (session !== undefined) return { jsonrpc: '2.0', id, result };
    const meta = isObject(result['_meta']) ? result['_meta'] : {};
    const _meta = { ...meta, [MCP_META.server]: this.#serverInfo() };
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result, _meta } };
  }

  #session(context: McpContext): { readonly found: McpSession } | { readonly error: McpError } {
    const { principal, sessionId, agentId } = context;
    if (sessionId === undefined) return { error: NO_SESSION };
    const found = this.#sessions.find(principal, sessionId, agentId);
    return found === undefined ? { error: SESSION_GONE } : { found };
  }

  #serverInfo(): JsonObject {
    return { name: 'dragoman', title: 'Dragoman', version: this.#options.version };
  }
}

/** The failure that an exception carries; any other exception is a bug, and the edge reports it. */
function errorOf(error: unknown): McpError {
  if (error instanceof McpRefused) return error.error;
  const known = failureOf(error);
  if (known === undefined) throw error;
  return mcpErrorOf(known);
}

function refused(id: Json | undefined, error: McpError): McpReply {
  return {
    message: { jsonrpc: '2.0', ...(id !== undefined && { id }), error: errorMember(error) },
    status: error.status,
  };
}

function unknownMethod(method: string): McpError {
  return mcpError(JSON_RPC_CODES.method_not_found, `Method not found: ${method.slice(0, 128)}`);
}

function clientName(name: Json | undefined, version: Json | undefined): string {
  return [name, version]
    .map((part) => (typeof part === 'string' ? part.slice(0, 64) : ''))
    .join(' ')
    .trim();
}

function isId(id: Json | undefined): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

const INVALID = { code: JSON_RPC_CODES.invalid_request, status: 400 } as const;
const NO_SESSION = mcpError(
  JSON_RPC_CODES.invalid_request,
  `Mcp-Session-Id is missing. Send initialize first (${MCP_LEGACY_VERSIONS.join(', ')}), or name the version in params._meta (${MCP_MODERN_VERSION}).`,
  { status: 400 },
);
const SESSION_GONE = mcpError(JSON_RPC_CODES.invalid_request, 'Session not found. Send initialize to open another.', {
  status: 404,
});

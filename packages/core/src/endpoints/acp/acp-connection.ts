import {
  decodeJsonRpc,
  type E2AEnvelope,
  type E2AResponse,
  type Failure,
  failure,
  isObject,
  type Json,
  type JsonObject,
  newEnvelope,
  newProvenance,
  show,
} from '@dragoman/protocols';
import { AcpUpdates, acpError, acpPromptParams } from '@dragoman/protocols/acp';
import { isBuiltIn } from '../../call/target.ts';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import { failureOf, Refused, refuse } from '../../refusals/refused.ts';
import { resultOf } from '../../targets/ask-target.ts';
import { targetRequest } from '../../targets/target-request.ts';
import type { AcpHub } from './acp-hub.ts';
import { type AcpSession, AGENT_OPTION, agentOption, type OfferedAgent } from './acp-session.ts';
import { ClientQuestions } from './client-questions.ts';
import { ClientServices } from './client-services.ts';
import { failureNote, replayOf, runningIn } from './replay.ts';

export interface AcpConnectionOptions {
  readonly hub: AcpHub;
  /** Writes one message; resolves when there is room for the next. */
  readonly send: (message: JsonObject) => Promise<void>;
  readonly clock: Pick<Clock, 'wait'>;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
  readonly transport: 'stdio' | 'websocket' | 'http';
  /** The one agent of this connection. Default: the client chooses. */
  readonly agent?: string | undefined;
}

/**
 * Serves one ACP client: prompts become requests of the hub, and frames become updates. A request belongs to the hub and not to the
 * connection: when the client leaves, the request continues, and `session/load` finds it.
 */
export class AcpConnection {
  readonly #options: AcpConnectionOptions;
  readonly #sessions = new Map<string, AcpSession>();
  /** Running requests of the client, with the functions that cancel them. */
  readonly #requests = new Map<JsonRpcId, () => void>();
  /** Requests to the client that wait for its answer. */
  readonly #waiting = new Map<string, (response: JsonObject) => void>();
  /** The client's files and terminals, for each running prompt. */
  readonly #serving = new Set<ClientServices>();
  #client: JsonObject = {};
  #clientName: string | undefined;
  #isClosed = false;

  constructor(options: AcpConnectionOptions) {
    this.#options = options;
  }

  /** Handles one message of the client. Resolves when the message has been answered. */
  async receive(json: Json): Promise<void> {
    const decoded = decodeJsonRpc(json);
    if (!decoded.ok) {
      const problem = decoded.issues[0]?.message ?? 'the message is not JSON-RPC';
      return this.#send({ jsonrpc: '2.0', id: null, error: { code: -32600, message: `Invalid request: ${problem}.` } });
    }
    const { kind, message } = decoded.value;
    if (kind === 'notification') return this.#notified(message.method, paramsOf(message));
    if (kind === 'request') return this.#answer(message.id as JsonRpcId, message.method, paramsOf(message));
    const answered = this.#waiting.get(String(message.id));
    this.#waiting.delete(String(message.id));
    answered?.(message as unknown as JsonObject);
  }

  /** Reports a message that is not JSON. */
  unreadable(message: string): Promise<void> {
    return this.#send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: `Parse error: ${message}.` } });
  }

  /**
   * Call when the client has left: its requests continue, and its questions stay open for other clients. Resolves when no agent waits
   * for the client's files or terminals any longer.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    await Promise.all([...this.#serving].map((services) => services.leave()));
  }

  async #answer(id: JsonRpcId, method: string, params: JsonObject): Promise<void> {
    if (this.#requests.has(id)) {
      return this.#send(
        errorFor(
          id,
          failure(
            'conflict',
            {},
            `A request with the id ${show(id)} is still running on this connection; use another id.`,
          ),
        ),
      );
    }
    if (this.#requests.size >= MOST_REQUESTS) {
      return this.#send(errorFor(id, failure('busy', { retry_after: 1 }, 'Too many requests at once.')));
    }
    this.#requests.set(id, () => {});
    let answered: Answered;
    try {
      answered = await this.#handle(method, params, id);
    } catch (error) {
      const known = failureOf(error);
      if (known === undefined) this.#options.log.error({ method, error: String(error) }, 'an ACP request failed');
      answered = { error: acpError(known ?? failure('internal')) };
    }
    const { result = {}, error, afterwards } = answered;
    try {
      await this.#send({ jsonrpc: '2.0', id, ...(error === undefined ? { result } : { error }) });
    } finally {
      this.#requests.delete(id);
    }
    await afterwards?.();
  }

  #handle(method: string, params: JsonObject, id: JsonRpcId): Promise<Answered> {
    // ACP, Extensibility: extension methods start with an underscore.
    if (method.startsWith('_')) return this.#callProgram(method, params, id);
    const handle = Object.hasOwn(METHODS, method) ? METHODS[method as keyof typeof METHODS] : undefined;
    if (handle === undefined) refuse('unknown_method', {}, unknownMethod(method));
    return handle.call(this, params, id);
  }

  #notified(method: string, params: JsonObject): void {
    if (method === 'session/cancel') this.#cancelSession(textIn(params, 'sessionId'));
    else if (method === '$/cancel_request') this.#requests.get(params['requestId'] as JsonRpcId)?.();
  }

  #cancelSession(sessionId: string): void {
    this.#sessions.get(sessionId)?.running?.cancel();
  }

  async initialize({ clientCapabilities, clientInfo }: JsonObject): Promise<Answered> {
    this.#client = isObject(clientCapabilities) ? clientCapabilities : {};
    const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
    this.#clientName = typeof name === 'string' ? name.slice(0, LONGEST_NAME) : undefined;
    return {
      result: {
        protocolVersion: 1,
        agentInfo: { name: 'dragoman', title: 'Dragoman', version: this.#options.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
        },
        authMethods: [],
      },
    };
  }

  async newSession(params: JsonObject): Promise<Answered> {
    const cwd = folderIn(params);
    // The limit is checked before the session is recorded.
    this.#requireRoom();
    const id = `acp-${this.#options.ids.sortable()}`;
    const { agent, hub } = this.#options;
    // Tools and workflows have no conversations: their sessions end with the connection.
    const isKept = !isBuiltIn(agent);
    if (isKept) await hub.request('session.create', { session_id: id, cwd }, agent);
    const session = isKept ? await this.#open(id, cwd, params) : this.#opened(id, cwd, { agent, ...params });
    return { result: { sessionId: id, configOptions: agentOption(session.agent, await this.#agents()) } };
  }

  async loadSession(params: JsonObject): Promise<Answered> {
    const { session, configOptions } = await this.#reopen(params);
    const send = (update: JsonObject) => this.#update(session, update);
    const running = await replayOf(session, { hub: this.#options.hub, client: this.#client, send });
    return { result: { configOptions }, afterwards: () => this.#follow(session, running) };
  }

  async resumeSession(params: JsonObject): Promise<Answered> {
    const { session, configOptions } = await this.#reopen(params);
    const running = await runningIn(session, this.#options.hub);
    return { result: { configOptions }, afterwards: () => this.#follow(session, running) };
  }

  async #reopen(params: JsonObject): Promise<{ session: AcpSession; configOptions: JsonObject[] }> {
    const opening = this.#open(textIn(params, 'sessionId'), folderIn(params), params);
    const [session, agents] = await Promise.all([opening, this.#agents()]);
    return { session, configOptions: agentOption(session.agent, agents) };
  }

  /** Opens a session of the caller, even if it was created over another protocol. */
  async #open(id: string, cwd: string, { mcpServers = null }: JsonObject): Promise<AcpSession> {
    const { hub, agent } = this.#options;
    const { sessions } = (await hub.request('session.list', { session_id: id })) as unknown as SessionList;
    const found = sessions.find(({ agent_id }) => agent === undefined || agent_id === agent);
    if (found === undefined) refuse('not_found', {}, `There is no session ${show(id)}.`);
    return this.#opened(id, cwd, { agent: found.agent_id, mcpServers });
  }

  #opened(
    id: string,
    cwd: string,
    { agent, mcpServers }: { agent: string; mcpServers?: Json | undefined },
  ): AcpSession {
    const given = { cwd, mcpServers: listIn(mcpServers), noticed: undefined };
    const open = this.#sessions.get(id);
    if (open !== undefined) return Object.assign(open, given);
    this.#requireRoom();
    const session = { id, agent, running: undefined, ...given };
    this.#sessions.set(id, session);
    return session;
  }

  #requireRoom(): void {
    if (this.#sessions.size >= MOST_SESSIONS) refuse('busy', {}, `A connection has at most ${MOST_SESSIONS} sessions.`);
  }

  async listSessions({ cwd, cursor }: JsonObject): Promise<Answered> {
    const page = typeof cursor === 'string' && /^\d{1,9}$/.test(cursor) ? Number(cursor) : 1;
    if (cursor !== undefined && cursor !== null && String(page) !== cursor)
      wrongParam('cursor', 'a nextCursor', cursor);
    const { hub, agent } = this.#options;
    const params = {
      page_idx: page,
      ...(typeof cwd === 'string' && { cwd }),
      ...(agent !== undefined && { agent_id: agent }),
    };
    const listed = (await hub.request('session.list', params)) as unknown as SessionList;
    return {
      result: {
        sessions: listed.sessions.map((session) => ({
          sessionId: session.session_id,
          cwd: session.cwd ?? '/',
          title: session.title,
          updatedAt: session.updated_at,
        })),
        ...(page < listed.total_pages && { nextCursor: String(page + 1) }),
      },
    };
  }

  async closeSession(params: JsonObject): Promise<Answered> {
    const { id } = this.#sessionIn(params);
    this.#cancelSession(id);
    this.#sessions.delete(id);
    return {};
  }

  async deleteSession(params: JsonObject): Promise<Answered> {
    const id = textIn(params, 'sessionId');
    const { hub } = this.#options;
    const { sessions } = (await hub.request('session.list', { session_id: id })) as unknown as SessionList;
    this.#cancelSession(id);
    this.#sessions.delete(id);
    for (const { agent_id } of sessions) await hub.request('session.delete', { session_id: id }, agent_id);
    return {};
  }

  async setConfigOption(params: JsonObject): Promise<Answered> {
    const session = this.#sessionIn(params);
    const { configId, value } = params;
    if (configId !== AGENT_OPTION) wrongParam('configId', show(AGENT_OPTION), configId);
    const agents = await this.#agents();
    const chosen = agents.find(({ id }) => id === value);
    if (chosen === undefined) wrongParam('value', `one of ${agents.map(({ id }) => id).join(', ')}`, value);
    const { id, cwd } = session;
    await this.#options.hub.request('session.create', { session_id: id, cwd }, chosen.id);
    session.agent = chosen.id;
    return { result: { configOptions: agentOption(chosen.id, agents) } };
  }

  async setMode(params: JsonObject, id: JsonRpcId): Promise<Answered> {
    const { sessionId = null } = params;
    return this.#callProgram('session/set_mode', { sessionId, mode: textIn(params, 'modeId') }, id);
  }

  /** Calls a method of the program that answers the session. Agents of other kinds have no such methods. */
  async #callProgram(method: string, params: JsonObject, id: JsonRpcId): Promise<Answered> {
    const session = this.#sessionIn(params);
    const cancelling = new AbortController();
    this.#requests.set(id, () => cancelling.abort());
    if (!(await this.#isProgram(session.agent))) refuse('unknown_method', {}, unknownMethod(method));
    const { hub, ids } = this.#options;
    const requestId = ids.uuid();
    const { sessionId: _, ...own } = params;
    const envelope = this.#envelope(session, method, {
      request_id: requestId,
      jsonrpc_id: id,
      method: 'ext',
      ext_method: method,
      params: own,
      channel_context: this.#contextOf(session, { isProgram: true }),
    });
    const converter = new AcpUpdates({ requestId, client: this.#client });
    const sending = { received: { id, method, params }, cancelled: cancelling.signal };
    for await (const frame of hub.send(envelope, sending)) {
      if (frame.is_final) {
        const result = resultOf(frame, session.agent);
        return isObject(result) ? { result } : {};
      }
      for (const update of converter.convert(frame).updates) await this.#update(session, update);
    }
    refuse('agent_failed', {}, `${session.agent} ended without an answer.`);
  }

  async prompt(params: JsonObject, id: JsonRpcId): Promise<Answered> {
    const session = this.#sessionIn(params);
    const { prompt, _meta: meta } = params;
    if (!Array.isArray(prompt) || prompt.length === 0) wrongParam('prompt', 'a list of content blocks', prompt);
    if (session.running !== undefined) refuse('conflict', {}, 'A prompt of this session is being answered already.');
    const requestId = this.#options.ids.uuid();
    const request = requestIn(session.agent, acpPromptParams(prompt));
    const cancelling = new AbortController();
    session.running = { requestId, cancel: () => cancelling.abort() };
    this.#requests.set(id, session.running.cancel);
    const takesServers = await this.#takesMcpServers(session).catch((error: unknown) => {
      session.running = undefined;
      throw error;
    });
    const acpMeta = isObject(meta) ? meta : {};
    const envelope = this.#envelope(session, 'session/prompt', {
      request_id: requestId,
      jsonrpc_id: id,
      correlation_id: traceIdIn(acpMeta),
      ...request,
      acp_meta: acpMeta,
      channel_context: this.#contextOf(session, { isProgram: takesServers }),
    });
    const services = this.#servicesFor(session);
    this.#serving.add(services);
    try {
      if (session.mcpServers.length > 0 && !takesServers && session.noticed !== session.agent) {
        await this.#update(session, thought(noticeOf(session)));
        session.noticed = session.agent;
      }
      const received = { id, method: 'session/prompt', params };
      const frames = this.#options.hub.send(envelope, { received, cancelled: cancelling.signal });
      return await this.#read(session, requestId, frames, services);
    } finally {
      session.running = undefined;
      this.#serving.delete(services);
      services.end();
    }
  }

  /** The `channel_context` of a request: the client's folder and capabilities, and for a program its MCP servers. */
  #contextOf({ cwd, mcpServers }: AcpSession, { isProgram }: { readonly isProgram: boolean }): JsonObject {
    const servers = isProgram && mcpServers.length > 0 ? { mcp_servers: [...mcpServers] } : {};
    return { cwd, ...ClientServices.offeredBy(this.#client), ...servers };
  }

  #envelope({ id, agent }: AcpSession, method: string, given: Partial<E2AEnvelope>): E2AEnvelope {
    const { transport } = this.#options;
    return newEnvelope({
      session_id: id,
      is_stream: true,
      agent_ref: { id: agent },
      channel: 'acp',
      identity_origin: 'user',
      provenance: newProvenance({
        source_protocol: 'acp',
        converter: 'dragoman',
        details: {
          endpoint: 'acp',
          acp_version: 1,
          jsonrpc_method: method,
          transport,
          ...(this.#clientName !== undefined && { client: this.#clientName }),
        },
      }),
      ...given,
    });
  }

  /** Only agents that are ACP programs use their client's MCP servers; all others use the tools of this server. */
  async #takesMcpServers({ agent, mcpServers }: AcpSession): Promise<boolean> {
    return mcpServers.length > 0 && (await this.#isProgram(agent));
  }

  async #isProgram(agent: string): Promise<boolean> {
    if (isBuiltIn(agent)) return false;
    try {
      const described = await this.#options.hub.request('agents.describe', { id: agent }, 'agents');
      return (described as unknown as OfferedAgent).takes_mcp_servers === true;
    } catch (error) {
      if (failureOf(error)?.code === 'not_found') return false;
      throw error;
    }
  }

  #servicesFor({ id: sessionId }: AcpSession): ClientServices {
    return new ClientServices({
      sessionId,
      capabilities: this.#client,
      ask: (id, method, params) => (this.#isClosed ? undefined : this.#request(id, { method, params })),
      cancel: (id) => void this.#withdraw(id),
      answer: (id, response) => this.#options.hub.request('acp.tool_response', { jsonrpc_id: id, response }),
    });
  }

  #request(id: string, call: JsonObject): Promise<JsonObject> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      void this.#send({ jsonrpc: '2.0', id, ...call });
    });
  }

  async #withdraw(id: string): Promise<void> {
    if (this.#waiting.delete(id))
      await this.#send({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: id } });
  }

  /** Sends the client the answers to requests that were already running when it opened the session. */
  async #follow(session: AcpSession, requestIds: readonly string[]): Promise<void> {
    const { hub } = this.#options;
    for (const requestId of requestIds) {
      if (session.running !== undefined) return;
      session.running = { requestId, cancel: () => void hub.cancel(requestId).catch(() => {}) };
      try {
        const note = failureNote(await this.#read(session, requestId, hub.read(requestId)), requestId);
        if (note !== undefined) await this.#update(session, note);
      } finally {
        session.running = undefined;
      }
    }
  }

  /** `services` is absent if another client sent the prompt: only the sender offers its files and terminals. */
  async #read(
    session: AcpSession,
    requestId: string,
    frames: AsyncIterable<E2AResponse>,
    services?: ClientServices,
  ): Promise<PromptEnd> {
    const converter = new AcpUpdates({ requestId, client: this.#client });
    const questions = this.#questionsOf(session, requestId);
    for await (const frame of frames) {
      services?.forward(frame);
      const { updates, question, questionEnd, end } = converter.convert(frame);
      for (const update of updates) await this.#update(session, update);
      if (question !== undefined) void questions.ask(question);
      if (questionEnd !== undefined) await questions.end(questionEnd);
      if (end !== undefined) return end;
    }
    return { error: acpError(failure('agent_failed', {}, 'The agent ended without an answer.')) };
  }

  #questionsOf(session: AcpSession, requestId: string): ClientQuestions {
    const { hub, clock, log } = this.#options;
    return new ClientQuestions({
      sessionId: session.id,
      capabilities: this.#client,
      ask: (id, call) => this.#request(id, call),
      cancel: (id) => this.#withdraw(id),
      answer: (questionId, answer) =>
        hub.request('chat.user_answer', { request_id: requestId, question_id: questionId, ...answer }),
      isRunning: () => session.running?.requestId === requestId,
      clock,
      log,
    });
  }

  #sessionIn(params: JsonObject): AcpSession {
    const id = textIn(params, 'sessionId');
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    const suggestions = ['open it with session/load or session/resume, or make one with session/new'];
    refuse('not_found', { suggestions }, `The session ${show(id)} is not open on this connection.`);
  }

  async #agents(): Promise<readonly OfferedAgent[]> {
    if (this.#options.agent !== undefined) return [];
    const { agents } = (await this.#options.hub.request('agents.list', {}, 'agents')) as unknown as {
      agents: readonly OfferedAgent[];
    };
    return agents;
  }

  #update({ id }: AcpSession, update: JsonObject): Promise<void> {
    return this.#send({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: id, update } });
  }

  async #send(message: JsonObject): Promise<void> {
    if (!this.#isClosed) await this.#options.send(message);
  }
}

/** The request of a prompt. A prompt to one of the server's own targets must be JSON. */
function requestIn(agent: string, params: JsonObject): { readonly method: string; readonly params: JsonObject } {
  return isBuiltIn(agent)
    ? targetRequest(agent, params['content'] ?? '', '/prompt')
    : { method: 'session/prompt', params };
}

type JsonRpcId = string | number;

/** The result of a request, and a task to run after it has been sent. */
interface Answered {
  readonly result?: JsonObject;
  /** Instead of a result. */
  readonly error?: JsonObject;
  readonly afterwards?: () => Promise<void>;
}

type PromptEnd = { readonly result: JsonObject } | { readonly error: JsonObject };

interface SessionList {
  readonly sessions: readonly {
    readonly session_id: string;
    readonly agent_id: string;
    readonly title: string | null;
    readonly cwd: string | null;
    readonly updated_at: string;
  }[];
  readonly total_pages: number;
}

const nothing = async (): Promise<Answered> => ({});

const METHODS = {
  initialize: AcpConnection.prototype.initialize,
  // The transport has authenticated the caller.
  authenticate: nothing,
  logout: nothing,
  'session/new': AcpConnection.prototype.newSession,
  'session/load': AcpConnection.prototype.loadSession,
  'session/resume': AcpConnection.prototype.resumeSession,
  'session/list': AcpConnection.prototype.listSessions,
  'session/close': AcpConnection.prototype.closeSession,
  'session/delete': AcpConnection.prototype.deleteSession,
  'session/set_mode': AcpConnection.prototype.setMode,
  'session/set_config_option': AcpConnection.prototype.setConfigOption,
  'session/prompt': AcpConnection.prototype.prompt,
} satisfies Record<string, (this: AcpConnection, params: JsonObject, id: JsonRpcId) => Promise<Answered>>;

function unknownMethod(method: string): string {
  return `This agent does not have the method ${show(method)}.`;
}

/** The trace id of a W3C trace context, which clients send in `_meta`. */
function traceIdIn({ traceparent }: JsonObject): string | null {
  const [, id = null] = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(String(traceparent)) ?? [];
  return id;
}

function errorFor(id: JsonRpcId, reason: Failure): JsonObject {
  return { jsonrpc: '2.0', id, error: acpError(reason) };
}

function paramsOf({ params }: { readonly params?: unknown }): JsonObject {
  return isObject(params) ? params : {};
}

function textIn(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value === 'string' && value !== '') return value;
  return wrongParam(name, 'a non-empty string', value);
}

/** ACP: the working folder is an absolute path. */
function folderIn(params: JsonObject): string {
  const cwd = textIn(params, 'cwd');
  if (cwd.length <= LONGEST_PATH && /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(cwd)) return cwd;
  return wrongParam('cwd', 'an absolute path', cwd);
}

function wrongParam(name: string, expected: string, value: unknown): never {
  const message = `${name} must be ${expected}; got ${show(value)}`;
  throw new Refused(failure('invalid_message', { issues: [{ pointer: `/${name}`, code: 'type', message }] }, message));
}

function noticeOf({ agent, mcpServers }: AcpSession): string {
  const names = mcpServers.map((server) => (isObject(server) ? String(server['name']) : '?')).join(', ');
  return `The MCP servers of the editor (${names}) are not available to ${agent}: it uses the tools of this server.`;
}

function listIn(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}

function thought(text: string): JsonObject {
  return { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } };
}

const MOST_SESSIONS = 1000;
const MOST_REQUESTS = 100;
const LONGEST_PATH = 4096;
const LONGEST_NAME = 100;

import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type E2AEnvelope, failure, isObject, type JsonObject, show } from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import { unlessAborted } from '../../ending/until-aborted.ts';
import type { NetworkGate } from '../../gate/network-gate.ts';
import { LimitedLog } from '../../ports/limited-log.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { Refused } from '../../refusals/refused.ts';
import type { SessionStore } from '../../store/store.ts';
import { Backoff } from '../../time/backoff.ts';
import { type Agent, type AgentPart, agentFailed } from '../agent.ts';
import { AcpProgramError } from './acp-line.ts';
import { AcpProgram, type ProgramSession } from './acp-program.ts';
import { acpPromptOf } from './acp-prompt.ts';
import { AcpLineLost, type OpenAcpTransport } from './acp-transport.ts';
import { AcpTurn, type PermissionPolicy } from './acp-turn.ts';
import { CallerClient } from './caller-client.ts';
import { clientMcpServers } from './client-mcp-servers.ts';
import { type ClientAccesses, type ClientOffer, clientOffer } from './client-offer.ts';
import { FolderMap } from './folder-map.ts';
import { insideFolder } from './inside-folder.ts';
import { LocalClient } from './local-client.ts';

/**
 * An agent that is an ACP program, such as those that editors use. One process serves all callers; where it may use the callers' files
 * and terminals, one process serves the callers that offer the same. The first request starts it. A session of a caller is a session of
 * the program. Its prompts run one after the other, because programs differ in how they handle two at once.
 */
export class AcpAgent implements Agent {
  readonly id: string;
  readonly takesMcpServers = true;
  readonly #options: AcpAgentOptions;
  readonly #log: LimitedLog;
  readonly #backoff = new Backoff();
  readonly #stopped = new AbortController();
  /** The last running or waiting prompt of each session. */
  readonly #queues = new Map<string, Promise<void>>();
  /** One for each client offer: a program is offered files and terminals once, when it starts. */
  readonly #programs = new Map<string, Promise<AcpProgram>>();
  #startsAt = 0;

  constructor(options: AcpAgentOptions) {
    this.id = options.id;
    this.#options = options;
    this.#log = new LimitedLog({
      log: options.log,
      clock: options.clock,
      fields: { agent: options.id },
      perSecond: 50,
    });
  }

  async *answer(envelope: E2AEnvelope, call: Call): AsyncGenerator<AgentPart, void, undefined> {
    const name = nameOf(call.principal.id, envelope.session_id ?? String(envelope.request_id));
    const release = await this.#turnOf(name, call.signal);
    let program: AcpProgram | undefined;
    try {
      program = await unlessAborted(this.#program(clientOffer(this.#options.access, envelope)), call.signal);
      yield* this.#prompt(program, name, envelope, call);
    } catch (error) {
      if (call.signal.aborted) throw error;
      yield failedPart(error);
    } finally {
      if (envelope.session_id === null) {
        if (program !== undefined) this.#leave(program, name);
        await remove(this.#requestFolder(name));
      }
      release();
    }
  }

  async tidy(): Promise<void> {
    const { sessions, clock } = this.#options;
    if (sessions === undefined) return;
    // Before the sessions are read, so that those opened meanwhile are not taken for removed ones.
    const folders = await readdir(this.#folder).catch(() => []);
    // A program that is starting has no sessions.
    const started = [...this.#programs.values()].map((program) =>
      Promise.race([program, undefined]).catch(() => undefined),
    );
    const opened = (await Promise.all(started)).flatMap((program) =>
      program === undefined ? [] : [...program.sessions.keys()].map((name) => ({ program, name })),
    );
    const recorded = (await sessions.allWith(this.id)).map(({ owner, sessionId }) => nameOf(owner, sessionId));
    const names = new Set([...recorded, ...this.#queues.keys()]);
    for (const { program, name } of opened) if (!names.has(name)) this.#leave(program, name);
    const kept = new Set([...[...names].map(folderName), REQUESTS]);
    for (const folder of folders) if (!kept.has(folder)) await remove(join(this.#folder, folder));
    // What an earlier process left: a running request may belong to an agent that this one has replaced.
    for (const folder of await readdir(join(this.#folder, REQUESTS)).catch(() => [])) {
      const path = join(this.#folder, REQUESTS, folder);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
      if (!kept.has(folder) && mtimeMs < clock.now().getTime() - ONE_DAY) await remove(path);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    const programs = [...this.#programs.values()].map((opening) => opening.catch(() => undefined));
    for (const program of await Promise.all(programs)) await program?.transport.end();
  }

  /** Waits until the earlier prompts have ended. */
  async #turnOf(name: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#queues.get(name);
    let release = () => {};
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    const last = (before ?? Promise.resolve()).then(() => mine);
    this.#queues.set(name, last);
    void last.then(() => {
      if (this.#queues.get(name) === last) this.#queues.delete(name);
    });
    try {
      if (before !== undefined) await unlessAborted(before, signal);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  #program(offer: ClientOffer): Promise<AcpProgram> {
    if (this.#stopped.signal.aborted) return Promise.reject(new AcpLineLost('The agent was stopped.'));
    const wait = this.#startsAt - this.#options.clock.elapsed();
    const kind = JSON.stringify(offer);
    const current = this.#programs.get(kind);
    if (current !== undefined) return current;
    if (wait > 0) {
      const seconds = Math.ceil(wait / 1000);
      const message = `The agent's program could not be started; the next try is in ${seconds} s.`;
      return Promise.reject(new Refused(failure('agent_failed', { retry_after: seconds }, message)));
    }
    const starting: Promise<AcpProgram> = this.#start(offer, () => {
      if (this.#programs.get(kind) === starting) this.#programs.delete(kind);
    });
    this.#programs.set(kind, starting);
    return starting;
  }

  async #start(offer: ClientOffer, onLost: () => void): Promise<AcpProgram> {
    const { id, open, clock, version, authMethod, startTimeoutMs: patienceMs } = this.#options;
    try {
      const transport = await open();
      const opened = AcpProgram.open({ transport, log: this.#log, clock, version, authMethod, patienceMs, offer });
      void transport.lost.then((reason) => {
        onLost();
        void opened.then(
          ({ line }) => line.lose(reason),
          () => {},
        );
      });
      const program = await opened.catch(async (error: unknown) => {
        await transport.end({ patienceMs: 0 });
        throw error;
      });
      this.#backoff.reset();
      return program;
    } catch (error) {
      onLost();
      const delay = this.#backoff.next();
      this.#startsAt = this.#options.clock.elapsed() + delay;
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ agent: id, error: reason, delay_ms: delay }, 'the agent could not be started');
      if (error instanceof AcpLineLost || error instanceof AcpProgramError) throw error;
      throw new AcpLineLost("The agent's program could not be started.");
    }
  }

  async *#prompt(
    program: AcpProgram,
    name: string,
    envelope: E2AEnvelope,
    call: Call,
  ): AsyncGenerator<AgentPart, void, undefined> {
    const { line } = program;
    const { session, isForgotten, leftOut } = await unlessAborted(
      this.#session(program, name, envelope, call),
      call.signal,
    );
    if (isForgotten) yield FORGOTTEN;
    if (leftOut.length > 0) yield leftOutPart(leftOut);
    const { id: sessionId, cwd: folder } = session;
    if (envelope.method === 'ext') return yield await this.#extension(program, session, envelope);
    const { id: agentId, access, permissions, childrenFolder, clock } = this.#options;
    const local = new LocalClient(access, { agentId, folder, childrenFolder, clock });
    const caller = this.#callerClient(envelope, call, folder);
    const turn = new AcpTurn(call, permissions, {
      offers: (method) => local.offers(method) || caller.offers(method),
      answer: (method, params) => (local.offers(method) ? local : caller).answer(method, params),
    });
    await program.begin(sessionId, turn);
    await this.#setMode(program, session, envelope.params['mode'] ?? undefined);
    const answered = line.request('session/prompt', {
      sessionId,
      prompt: acpPromptOf(envelope, program.promptCapabilities),
    });
    let isAnswered = false;
    const over = answered.then(
      () => {},
      () => {},
    );
    void over.then(() => {
      isAnswered = true;
      turn.end();
    });
    try {
      yield* turn.parts();
      yield endPart(await answered, turn.text);
    } finally {
      turn.end();
      if (!isAnswered) await this.#cancel(program, sessionId, over);
      program.turns.delete(sessionId);
      await local.end();
    }
  }

  #callerClient(envelope: E2AEnvelope, call: Call, own: string): CallerClient {
    const { access, permissions: policies } = this.#options;
    const { cwd } = envelope.channel_context;
    const folders = new FolderMap({ own, client: typeof cwd === 'string' ? cwd : own });
    return new CallerClient({ call, access, offer: clientOffer(access, envelope), folders, policies });
  }

  /** Ends a session of the program. A session of one request ends with it. */
  #leave(program: AcpProgram, name: string): void {
    const { line, transport, sessions } = program;
    const session = sessions.get(name);
    if (session === undefined) return;
    sessions.delete(name);
    const { id: sessionId } = session;
    const closed = program.can('close') && !line.isLost ? line.request('session/close', { sessionId }) : undefined;
    void Promise.resolve(closed)
      .catch(() => {})
      .then(() => transport.forget?.(sessionId));
  }

  /** A method of the program's own, or the one that sets the mode of a session. */
  async #extension(program: AcpProgram, session: ProgramSession, envelope: E2AEnvelope): Promise<AgentPart> {
    const { ext_method: method, params } = envelope;
    if (method === 'session/set_mode' && session.modes !== undefined) {
      await this.#setMode(program, session, params['mode'] ?? null);
      return { part: 'complete', result: {} };
    }
    if (method === null || !method.startsWith('_')) {
      const suggestions = ['set ext_method to an extension method of the program, such as "_example.com/status"'];
      const message = `ext_method must start with "_" for this agent; got ${show(method)}.`;
      return unknownMethod(message, suggestions);
    }
    try {
      return { part: 'complete', result: await program.line.request(method, { sessionId: session.id, ...params }) };
    } catch (error) {
      const isUnknown = error instanceof AcpProgramError && error.code === -32601;
      if (isUnknown) return unknownMethod(`The agent's program does not have the method ${show(method)}.`);
      throw error;
    }
  }

  /** `params.mode`, in a program that has modes. */
  async #setMode({ line }: AcpProgram, session: ProgramSession, mode: unknown): Promise<void> {
    if (mode === undefined || session.modes === undefined || session.mode === mode) return;
    if (typeof mode !== 'string' || !session.modes.includes(mode)) {
      const message = `params.mode must be one of ${session.modes.join(', ')}; got ${show(mode)}`;
      const issues = [{ pointer: '/params/mode', code: 'enum', message }];
      throw new Refused(failure('invalid_message', { issues }, message));
    }
    await line.request('session/set_mode', { sessionId: session.id, modeId: mode });
    session.mode = mode;
  }

  /** Cancels a prompt. A program that continues regardless is ended, unless it has other work. */
  async #cancel({ line, turns, transport }: AcpProgram, sessionId: string, over: Promise<void>): Promise<void> {
    if (line.isLost) return;
    line.notify('session/cancel', { sessionId });
    const late = new AbortController();
    const isLate = await Promise.race([
      over.then(() => false),
      this.#options.clock.wait(CANCEL_PATIENCE_MS, late.signal).then(
        () => true,
        () => false,
      ),
    ]);
    late.abort();
    if (isLate && turns.size <= 1) await transport.end({ patienceMs: 0 });
  }

  /** The program's session for the caller's session: the open one, the one from before a restart, or a new one. */
  async #session(
    program: AcpProgram,
    name: string,
    envelope: E2AEnvelope,
    { principal }: Call,
  ): Promise<OpenedSession> {
    const known = program.sessions.get(name);
    if (known !== undefined) return { session: known, isForgotten: false, leftOut: [] };
    const { session_id: sessionId } = envelope;
    const cwd = this.#cwdFor(envelope, name);
    const earlier = sessionId === null ? undefined : await this.#recorded(principal.id, sessionId);
    const { servers: mcpServers, leftOut } = clientMcpServers(envelope, {
      principal,
      can: program.mcpCapabilities,
      judge: (url) => this.#options.gate?.judge(url, 'allow'),
    });
    const reopened =
      earlier === undefined ? undefined : await this.#reopened(program, { sessionId: earlier, cwd, mcpServers });
    if (earlier !== undefined && reopened !== undefined) {
      return { session: opened(program, name, { id: earlier, cwd, answer: reopened }), isForgotten: false, leftOut };
    }
    const answer = await program.line.request('session/new', { cwd, mcpServers }).catch((error: unknown) => {
      throw error instanceof AcpProgramError && error.code === -32000 ? this.#needsSignIn(program) : error;
    });
    const { sessionId: made } = answer;
    if (typeof made !== 'string' || made === '')
      throw new AcpProgramError(-32603, 'session/new returned no sessionId', null);
    // It would show one caller the conversation of another.
    if ([...program.sessions.values()].some(({ id }) => id === made))
      throw new AcpProgramError(-32603, 'session/new returned the sessionId of another open session', null);
    const session = opened(program, name, { id: made, cwd, answer });
    if (sessionId !== null) {
      await this.#options.sessions?.setRemote({ owner: principal.id, agentId: this.id, sessionId }, made);
    }
    return { session, isForgotten: earlier !== undefined, leftOut };
  }

  async #recorded(owner: string, sessionId: string): Promise<string | undefined> {
    return (await this.#options.sessions?.remote({ owner, agentId: this.id, sessionId })) ?? undefined;
  }

  async #reopened(program: AcpProgram, params: JsonObject): Promise<JsonObject | undefined> {
    const method = program.can('resume') ? 'session/resume' : program.can('load') ? 'session/load' : undefined;
    if (method === undefined) return undefined;
    try {
      // The replay is dropped, because no turn of the session has started.
      return await program.line.request(method, params);
    } catch (error) {
      if (error instanceof AcpLineLost) throw error;
      return undefined;
    }
  }

  #needsSignIn({ authMethods }: AcpProgram): AcpProgramError {
    const how = authMethods.length === 0 ? '' : ` Set auth_method of the agent to one of: ${authMethods.join(', ')}.`;
    return new AcpProgramError(-32000, `The agent's program needs a sign-in.${how}`, null);
  }

  /** The folder of the caller's client where that is allowed, else the configured folder, else one for this session. */
  #cwdFor({ channel_context: { cwd: wanted }, session_id: sessionId }: E2AEnvelope, name: string): string {
    const { workspaces, cwd } = this.#options;
    const allowed = typeof wanted === 'string' ? insideFolder(wanted, workspaces) : undefined;
    if (allowed !== undefined) return allowed;
    if (cwd !== undefined) return cwd;
    const own = sessionId === null ? this.#requestFolder(name) : join(this.#folder, folderName(name));
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return own;
  }

  /** Has a folder for each session. */
  get #folder(): string {
    return join(this.#options.folder, 'acp', this.id);
  }

  /** For a request without a session. */
  #requestFolder(name: string): string {
    return join(this.#folder, REQUESTS, folderName(name));
  }
}

export interface AcpAgentOptions {
  readonly id: string;
  readonly open: OpenAcpTransport;
  /** The program's working folder, if it is the same for all sessions. */
  readonly cwd?: string | undefined;
  readonly access: ClientAccesses;
  readonly authMethod?: string | undefined;
  readonly permissions: Readonly<Record<string, PermissionPolicy>>;
  /** Folders that a caller may choose to work in. */
  readonly workspaces: readonly string[];
  readonly startTimeoutMs: number;
  readonly version: string;
  readonly sessions?: Pick<SessionStore, 'remote' | 'setRemote' | 'allWith'> | undefined;
  /** Checks the URLs of MCP servers that a client names. */
  readonly gate?: Pick<NetworkGate, 'judge'> | undefined;
  readonly folder: string;
  readonly childrenFolder: string;
  readonly clock: Clock;
  readonly log: Log;
}

function nameOf(owner: string, session: string): string {
  return `${owner}\n${session}`;
}

function folderName(name: string): string {
  return hash('sha256', name, 'hex').slice(0, 32);
}

/** A program may still write to it: then it is removed another time. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

function opened(
  { sessions }: AcpProgram,
  name: string,
  { id, cwd, answer: { modes } }: { readonly id: string; readonly cwd: string; readonly answer: JsonObject },
): ProgramSession {
  const { availableModes, currentModeId } = isObject(modes) ? modes : ({} as JsonObject);
  const offered = Array.isArray(availableModes) ? availableModes.filter(isObject) : undefined;
  const session = { id, cwd, modes: offered?.map((mode) => String(mode['id'])), mode: currentModeId };
  sessions.set(name, session);
  return session;
}

/** How a prompt ended. */
function endPart({ stopReason, usage }: JsonObject, text: string): AgentPart {
  if (stopReason === 'cancelled') throw new Refused(failure('cancelled', {}, 'The agent cancelled the request.'));
  const more = usage === undefined ? {} : { usage };
  if (stopReason === 'end_turn') return { part: 'complete', result: { ...(text !== '' && { text }), ...more } };
  const reason = typeof stopReason === 'string' ? stopReason : 'end_turn';
  return { part: 'complete', result: { ...(text !== '' && { text }), stop_reason: reason, ...more } };
}

function unknownMethod(message: string, suggestions: readonly string[] = []): AgentPart {
  return { part: 'failure', failure: failure('unknown_method', { suggestions }, message) };
}

function failedPart(error: unknown): AgentPart {
  if (error instanceof AcpLineLost) return agentFailed(error.message);
  if (!(error instanceof AcpProgramError)) throw error;
  const { code, message, data } = error;
  const external = { protocol: 'acp', type: 'jsonrpc_error', payload: { code, message, data } };
  const body = { code: 'E2A.AGENT_ERROR', message, details: {}, external };
  return { part: 'frame', frame: { response_kind: 'e2a.error', is_final: true, status: 'failed', body } };
}

interface OpenedSession {
  readonly session: ProgramSession;
  readonly isForgotten: boolean;
  /** The MCP servers that the client named and that the session does not get. */
  readonly leftOut: readonly string[];
}

function leftOutPart(leftOut: readonly string[]): AgentPart {
  const delta = `MCP servers of the editor that are not available here: ${leftOut.join('; ')}.`;
  return { part: 'chunk', body: { delta_kind: 'reasoning', delta } };
}

const FORGOTTEN: AgentPart = {
  part: 'chunk',
  body: { delta_kind: 'reasoning', delta: 'The agent was restarted and does not remember the earlier conversation.' },
};
const CANCEL_PATIENCE_MS = 10_000;
/** The folder of requests without a session. */
const REQUESTS = 'requests';
const ONE_DAY = 24 * 60 * 60 * 1000;

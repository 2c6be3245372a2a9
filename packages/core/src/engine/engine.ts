import type { E2AEnvelope, E2AResponse } from '@dragoman/protocols';
import type { Agent } from '../agents/agent.ts';
import { Router } from '../agents/router.ts';
import type { Call } from '../call/call.ts';
import { type Handler, type Layer, layered } from '../call/handler.ts';
import type { Principal, RateLimits } from '../call/principal.ts';
import { Callers } from '../callers/callers.ts';
import { Keys } from '../callers/keys.ts';
import { asking } from '../layers/asking.ts';
import { deadline } from '../layers/deadline.ts';
import { history } from '../layers/history.ts';
import { journal, SERVER } from '../layers/journal.ts';
import { limit } from '../layers/limit.ts';
import { ofChannel } from '../layers/of-channel.ts';
import { permit } from '../layers/permit.ts';
import { stampConversion } from '../layers/stamp-conversion.ts';
import { withTools } from '../layers/tools.ts';
import { unary } from '../layers/unary.ts';
import { Limiter } from '../limits/limiter.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { Pushes } from '../pushes/pushes.ts';
import { ClientCalls } from '../questions/client-calls.ts';
import { OpenQuestions } from '../questions/open-questions.ts';
import type { Reading } from '../runs/reading.ts';
import { RunTable } from '../runs/run-table.ts';
import { Runs } from '../runs/runs.ts';
import { serverMethods } from '../server-methods/server-methods.ts';
import type { RequestRow, Store } from '../store/store.ts';
import { ONE_HOUR } from '../time/every-hour.ts';
import { PurgeTime } from '../time/purge-time.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';

export interface EngineOptions {
  /** Called with every frame of every answer, once. */
  readonly onFrame?: ((frame: E2AResponse) => void) | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The permitted callers. Default: the agents of the store. */
  readonly callers?: Callers;
  /** The server's version, reported to clients that ask for it. Default: 0. */
  readonly version?: string;
  readonly defaultAgent?: string;
  readonly limits?: Partial<RateLimits>;
  /** How long one answer may take. Default: 10 minutes. */
  readonly timeoutMs?: number;
  /** Maximum bytes of one answer, over all its frames. */
  readonly answerBytes?: number;
  /** How long finished answers are kept. Default: a day. */
  readonly keepMs?: number;
  /**
   * Returns the anonymous sender whose requests are recorded under this owner, so that they continue after a restart.
   * `undefined` when the owner is not one.
   */
  readonly anonymousSender?: (owner: string) => Principal | undefined;
}

/** Everything between the endpoints and the agents: takes envelopes, returns frames. */
export class Engine {
  readonly keys: Keys;
  readonly callers: Callers;
  readonly limiter: Limiter;
  readonly router: Router;
  readonly runs: Runs;
  readonly pushes: Pushes;
  /** The questions of running requests to people. */
  readonly questions: OpenQuestions;
  /** The calls of running requests to the clients of their callers. */
  readonly clientCalls: ClientCalls;
  /** The time by which old records are deleted. */
  readonly purgeTime: PurgeTime;
  /** Layers by channel. An endpoint adds one to change the requests of its channel before they reach the agent. */
  readonly channelLayers = new Map<string, Layer>();
  /** The tools for agents; `undefined` until the server sets them. */
  tools: ToolRegistry | undefined;
  /** Answers an envelope: permit → limit → journal → deadline → the server's own methods or the agent. */
  readonly handle: Handler<Reading>;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #keepMs: number;
  readonly #anonymousSender: (owner: string) => Principal | undefined;
  readonly #idempotent = new Set<string>();
  /** Resolve when agents that were replaced or removed have ended. */
  readonly #retiring = new Set<Promise<void>>();
  #stopping: Promise<void> | undefined;

  constructor({
    store,
    clock,
    ids,
    log,
    callers = new Callers({ store: store.agents, clock }),
    version = '0',
    defaultAgent,
    limits = {},
    timeoutMs = TEN_MINUTES,
    answerBytes,
    keepMs = ONE_DAY,
    anonymousSender = () => undefined,
    onFrame,
  }: EngineOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#keepMs = keepMs;
    this.#anonymousSender = anonymousSender;
    this.keys = new Keys({ store: store.keys, clock, ids });
    this.callers = callers;
    this.limiter = new Limiter({ clock, limits, counters: store.counters });
    this.purgeTime = new PurgeTime({ clock, log });
    this.router = new Router({ clock, ids, defaultAgent, answerBytes });
    const table = new RunTable({ clock });
    table.setLimit(SERVER, Number.POSITIVE_INFINITY);
    const isIdempotent = (agentId: string) => this.#idempotent.has(agentId);
    const whenReachable = (agentId: string) => this.router.find(agentId)?.whenReachable?.();
    const frameKeyOf = (agentId: string) => this.router.find(agentId)?.frameKey;
    this.runs = new Runs({ store, clock, ids, log, table, isIdempotent, whenReachable, frameKeyOf, onFrame });
    this.pushes = new Pushes({ sessions: store.sessions, clock, ids, log });
    this.questions = new OpenQuestions({ clock, ids, log });
    this.clientCalls = new ClientCalls({ clock, ids });
    const agentOf = (envelope: E2AEnvelope, { principal }: Pick<Call, 'principal'>) =>
      this.router.resolve(envelope, principal);
    const isForOwnTarget = (envelope: E2AEnvelope) => this.router.isForOwnTarget(envelope);
    const answer = layered(this.router.handler, [
      unary(),
      asking(this.questions, this.clientCalls),
      deadline({ clock, milliseconds: timeoutMs }),
      serverMethods({
        runs: this.runs,
        questions: this.questions,
        clientCalls: this.clientCalls,
        version,
        sessions: store.sessions,
        clock,
        ids,
        agentOf,
        isForOwnTarget,
        tidy: () => this.router.tidy(),
      }),
      history({ sessions: store.sessions, threads: store.threads, runs: this.runs, agentOf }),
      ofChannel(this.channelLayers),
      withTools(() => this.tools),
    ]);
    const journaled = journal({ runs: this.runs, router: this.router })(answer);
    this.handle = stampConversion(clock)(permit(this.router)(limit(this.limiter)(journaled)));
    table.recovers(this.runs.recoverable((row) => this.#callFor(row), answer));
  }

  /** Adds an agent, which receives the envelopes that name it. A replaced agent may finish its running answers. */
  addAgent(agent: Agent, { maxParallel = 8, isIdempotent = false }: AgentOptions = {}): void {
    this.runs.table.setLimit(agent.id, maxParallel);
    if (isIdempotent) this.#idempotent.add(agent.id);
    else this.#idempotent.delete(agent.id);
    const before = this.router.add(agent);
    if (before !== undefined) this.#retire(before);
  }

  /** Removes an agent. It may finish its running answers. */
  retireAgent(id: string): void {
    const agent = this.router.take(id);
    if (agent !== undefined) this.#retire(agent);
  }

  /** Continues or ends the requests of an earlier process. Call it once, after the agents were added. */
  async start(): Promise<void> {
    const counts = this.limiter.load(this.#store.counters);
    await Promise.all([this.keys.load(), this.callers.ensureLoaded(), counts]);
    // Every request is counted, so `load` returns the time of the latest request.
    this.purgeTime.start(await counts);
    await this.#noteOpen().catch((error) => this.#log.warn({ error: String(error) }, 'housekeeping failed'));
    await this.runs.table.recover();
    void this.#keepHouse();
  }

  /** Lets running answers finish for `drainMs`, ends the rest as interrupted, and saves the counts of the limits. */
  stop({ drainMs }: { drainMs: number }): Promise<void> {
    this.#stopping ??= this.#stop(drainMs);
    return this.#stopping;
  }

  async #stop(drainMs: number): Promise<void> {
    await this.runs.table.drain(drainMs);
    await Promise.all(this.#retiring);
    try {
      await this.limiter.save(this.#store.counters);
    } finally {
      await this.router[Symbol.asyncDispose]();
    }
  }

  #retire(agent: Agent): void {
    const ended = this.runs
      .settled(agent.id)
      .then(() => agent[Symbol.asyncDispose]())
      .catch((error) => this.#log.warn({ agent: agent.id, error: String(error) }, 'an agent did not stop cleanly'))
      .finally(() => this.#retiring.delete(ended));
    this.#retiring.add(ended);
  }

  #callFor(row: RequestRow): Call | undefined {
    const principal = this.principalNamed(row.owner);
    return principal && { principal, signal: this.runs.table.stopped.signal, log: this.#log };
  }

  /** The caller with this id as it is now, for work that continues in its name after a restart. */
  principalNamed(id: string): Principal | undefined {
    const anonymous = this.#anonymousSender(id);
    if (anonymous !== undefined) return anonymous;
    return this.callers.principalOf({
      keyId: '',
      hash: '',
      agentId: id,
      role: id === 'admin' ? 'admin' : 'agent',
      description: null,
      createdAt: 0,
      expiresAt: null,
      revokedAt: null,
    });
  }

  /**
   * Notes which requests are open: `keepMs` counts from about the end of an answer, even if its request waited for
   * days.
   */
  #noteOpen(): Promise<void> {
    const now = this.#clock.now().getTime();
    return this.#store.requests.noteOpen(now - ONE_HOUR, now);
  }

  /**
   * Every second, saves the counts of the limits, so that a crash loses at most that second. Every hour, deletes old
   * answers and the sessions that have no requests left.
   */
  async #keepHouse(): Promise<void> {
    const { stopped } = this.runs.table;
    let purgeAt = 0;
    while (!stopped.aborted) {
      try {
        await this.#clock.wait(1000, stopped.signal);
        await this.limiter.save(this.#store.counters);
        if (this.#clock.elapsed() >= purgeAt) {
          purgeAt = this.#clock.elapsed() + ONE_HOUR;
          const before = this.purgeTime.now() - this.#keepMs;
          await this.#noteOpen();
          await this.#store.requests.purge(before);
          await this.#store.sessions.purge(before);
          await this.router.tidy();
        }
      } catch (error) {
        if (!stopped.aborted) this.#log.warn({ error: String(error) }, 'housekeeping failed');
      }
    }
  }
}

export interface AgentOptions {
  /** How many requests the agent works on at once; others wait. Default: 8. */
  readonly maxParallel?: number;
  /** Repeating a request of this agent is safe, so the agent may start before the request is on the disk. */
  readonly isIdempotent?: boolean;
}

const ONE_DAY = 24 * ONE_HOUR;
const TEN_MINUTES = 600 * 1000;

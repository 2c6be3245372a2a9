import {
  AgentLines,
  type AgentPush,
  AgentSocketHub,
  Callers,
  type Cluster,
  Engine,
  type JsonReader,
  ProofFailures,
  RemotePushes,
  RemoteQuestions,
  RemoteRuns,
  type Store,
  ToolRegistry,
  type Vault,
} from '@dragoman/core';
import { logLine } from '@dragoman/protocols';
import { AnsweringAgents } from '../agents/answering-agents.ts';
import { FailedLogins } from '../callers/failed-logins.ts';
import { KeyCheck } from '../callers/key-check.ts';
import { keptAnswersMs } from '../config/kept-answers.ts';
import { anonymousSender } from '../config/mailbox-config.ts';
import { reloadableLimits } from '../reload/reloadable-parts.ts';
import { agentSocketRoute } from '../routes/agent-socket.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { OpeningOptions } from './server-options.ts';

export interface EnginePart extends ServerPart {
  readonly engine: Engine;
  readonly agents: AnsweringAgents;
  readonly tools: ToolRegistry;
  readonly hub: AgentSocketHub;
  readonly agentLines: AgentLines | undefined;
  readonly proofFailures: ProofFailures;
  readonly keyCheck: KeyCheck;
  readonly failedLogins: FailedLogins;
}

export interface EnginePartOptions extends OpeningOptions {
  readonly store: Store;
  readonly cluster: Cluster | undefined;
  readonly vault: Vault;
  readonly reader: JsonReader;
}

/** The engine, its callers, and the endpoint where agents dial in. Later parts add agents and tools. */
export function openEnginePart(options: EnginePartOptions): EnginePart {
  const { config, store, cluster, vault, reader, clock, ids, log } = options;
  const callers = new Callers({ store: store.agents, clock });
  const agents = new AnsweringAgents(config.agents, callers);
  const engine = new Engine({
    store,
    callers,
    clock,
    ids,
    log,
    version: VERSION,
    ...(config.default_agent !== undefined && { defaultAgent: config.default_agent }),
    limits: config.limits,
    timeoutMs: config.request_timeout_ms,
    answerBytes: config.answer_bytes,
    keepMs: keptAnswersMs(config),
    anonymousSender: (owner) => anonymousSender(config.mailbox, owner, agents),
    ...(config.log.e2a && { onFrame: (frame) => log.info(JSON.parse(logLine(frame)), 'E2A response') }),
  });
  let agentLines: AgentLines | undefined;
  if (store.cluster !== undefined && cluster !== undefined) {
    const remote = new RemoteRuns({ store: store.cluster, runs: engine.runs, cluster, vault, clock, log });
    const { questions, clientCalls } = engine;
    new RemoteQuestions({
      questions,
      clientCalls,
      cluster,
      principalNamed: (id) => engine.principalNamed(id),
    });
    new RemotePushes({ store: store.cluster, pushes: engine.pushes, cluster, clock, log });
    agentLines = new AgentLines({ store: store.cluster, runs: engine.runs, remote, cluster, log });
  }
  const tools = new ToolRegistry({ clock, log, runs: engine.runs.table });
  engine.tools = tools;
  const proofFailures = new ProofFailures({ clock, perMinute: config.messages.unproven_per_minute });
  const { message_bytes: maxFrameBytes } = config.limits;
  const hub = new AgentSocketHub({
    clock,
    ids,
    log,
    onChanged: (id, isConnected) => agentLines?.changed(id, isConnected),
    onPush: (push: AgentPush) => engine.pushes.deliver(push),
    reader,
    maxFrameBytes,
  });
  const failedLogins = new FailedLogins(clock);
  return {
    engine,
    agents,
    tools,
    hub,
    agentLines,
    proofFailures,
    keyCheck: new KeyCheck({ engine, proofFailures, failed: failedLogins }),
    failedLogins,
    sockets: [agentSocketRoute(hub, agents)],
    reloadables: [reloadableLimits(engine.limiter)],
    families: { keys: () => engine.keys.load() },
    start: async () => {
      await engine.start();
      cluster?.listen({ takeOver: () => engine.runs.table.recover() });
    },
    // Agents that dialled in stay connected as long as anything runs.
    drain: (drainMs) => engine.stop({ drainMs }).finally(() => hub.close()),
  };
}

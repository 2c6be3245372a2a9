import { checkAdminKey, type Engine, loadOperations, UnreadBudget } from '@dragoman/core';
import { completeConfig } from './config/complete-config.ts';
import type { Config } from './config/config-schema.ts';
import { unreadBytes } from './config/endpoint-limits.ts';
import type { SignInKeys } from './console/sign-in-tokens.ts';
import { openAcpPart } from './parts/acp.ts';
import { openAdminPart } from './parts/admin.ts';
import { openAgentsPart } from './parts/agents.ts';
import { openClockPart } from './parts/clock.ts';
import { openClusterPart } from './parts/cluster.ts';
import { type ConsolePart, openConsolePart } from './parts/console.ts';
import { openE2APart } from './parts/e2a.ts';
import { openEnginePart } from './parts/engine.ts';
import { openFamiliesPart } from './parts/families.ts';
import { type HttpPart, openHttpPart } from './parts/http.ts';
import { sharedIntake } from './parts/intake.ts';
import { openKnowledgePart } from './parts/knowledge.ts';
import { openLfA2aPart } from './parts/lf-a2a.ts';
import { openMailboxPart } from './parts/mailbox.ts';
import { type McpPart, openMcpPart } from './parts/mcp.ts';
import { type MessagesPart, openMessagesPart } from './parts/messages.ts';
import { openOpenAiPart } from './parts/openai.ts';
import { openOutboundPart } from './parts/outbound.ts';
import { openOutboxPart } from './parts/outbox.ts';
import { Parts } from './parts/parts.ts';
import type { ServerOptions } from './parts/server-options.ts';
import type { Service } from './parts/service.ts';
import { openStorePart } from './parts/store.ts';
import { openThreadsPart } from './parts/threads.ts';
import { openToolsPart } from './parts/tools.ts';
import { openWirePart, type WirePart } from './parts/wire.ts';
import { openWorkflowsPart } from './parts/workflows.ts';
import { type Reloaded, Reloading, type ReloadOptions } from './reload/reload.ts';

/** A running server. */
export class Server implements AsyncDisposable {
  readonly engine: Engine;
  readonly url: string;
  /** The URL of the administration: `url`, unless the administration has its own listener. */
  readonly adminUrl: string;
  readonly wire: WirePart;
  readonly mcp: McpPart;
  readonly messages: MessagesPart;
  readonly #console: ConsolePart;
  readonly #parts: Parts;
  readonly #reloading: Reloading;
  #stopped: Promise<void> | undefined;

  constructor({ engine, wire, mcp, messages, http, console, parts, reloading }: ServerContents) {
    this.engine = engine;
    this.wire = wire;
    this.mcp = mcp;
    this.messages = messages;
    this.url = http.url;
    this.adminUrl = http.adminUrl;
    this.#console = console;
    this.#parts = parts;
    this.#reloading = reloading;
  }

  /**
   * Takes over a configuration as far as possible while the server runs, and returns the changes that wait for the next
   * start. Rejects if a change fails, such as an agent that cannot be opened; then nothing has changed.
   */
  reload(config: Config, options?: ReloadOptions): Promise<Reloaded> {
    return this.#reloading.reload(config, options);
  }

  /**
   * The path that opens the console signed in with these keys. It works once, for 15 minutes. `undefined` without a
   * console.
   */
  signInPath(keys: SignInKeys): string | undefined {
    return this.#console.signInPath(keys);
  }

  /** Accepts nothing new, waits up to `drainMs` for running work, interrupts the rest, and closes the store. */
  stop({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    this.#stopped ??= this.#parts.stop(drainMs);
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

interface ServerContents {
  readonly engine: Engine;
  readonly wire: WirePart;
  readonly mcp: McpPart;
  readonly messages: MessagesPart;
  readonly http: HttpPart;
  readonly console: ConsolePart;
  readonly parts: Parts;
  readonly reloading: Reloading;
}

export async function startServer(given: ServerOptions): Promise<Server> {
  const local = { ...given, config: completeConfig(given.config) };
  const { config, log } = local;
  // Checked before anything is opened.
  checkAdminKey(local.adminKey);
  const parts = new Parts(local.clock);
  try {
    const { store } = await parts.add(openStorePart(local));
    const { cluster, farewell } = await parts.add(openClusterPart({ ...local, store }));
    const { clock } = await parts.add(openClockPart({ ...local, store, cluster }));
    const options = { ...local, clock };
    await parts.add(openFamiliesPart({ store, cluster, parts, log }));
    const { vault, gate, references } = await parts.add(openOutboundPart({ ...options, store }));
    const { reader, signatures } = await parts.add(openThreadsPart());
    const { hub, ...core } = await parts.add(openEnginePart({ ...options, store, cluster, vault, reader }));
    const { engine, agentLines, agents, tools, proofFailures, keyCheck, failedLogins } = core;
    const intake = sharedIntake(options);
    const address = { url: '' };
    const found = {
      store,
      cluster,
      agentLines,
      vault,
      gate,
      references,
      reader,
      signatures,
      engine,
      agents,
      tools,
      proofFailures,
      keyCheck,
      failedLogins,
      intake,
      address,
      unread: new UnreadBudget({ maxBytes: unreadBytes(config.limits), clock, log }),
    };
    const service: Service = { ...options, ...found };
    const operations = await loadOperations(config.workflows.operations);

    // A new part is one line here. A part may use the parts above it.
    const drivers = await parts.add(openAgentsPart({ ...service, hub }));
    await parts.add(openE2APart(service));
    await parts.add(openAcpPart(service));
    const messages = await parts.add(openMessagesPart(service));
    const callbacks = await parts.add(openOutboxPart(service));
    const { rootCard } = await parts.add(openLfA2aPart({ ...service, callbacks }));
    const extensions = () => [messages.cardExtension()];
    await parts.add(openMailboxPart({ ...service, callbacks, rootCard, extensions }));
    const {
      apis,
      bases,
      tool: knowledge,
    } = await parts.add(openKnowledgePart({ ...service, operations: operations.catalog.own }));
    const { workflows, stored } = await parts.add(openWorkflowsPart({ ...service, apis, operations }));
    const { registry } = messages;
    const { servers, skills, everyAgent } = await parts.add(
      openToolsPart({ ...service, workflows, stored, registry, knowledge }),
    );
    const mcp = await parts.add(openMcpPart({ ...service, stored, servers, bases }));
    await parts.add(openOpenAiPart({ ...service, stored, everyAgent }));
    const wire = await parts.add(openWirePart({ ...service, servers, skills, everyAgent }));
    await parts.add(openAdminPart({ ...service, drivers, callbacks, messages, workflows, operations, wire }));
    const console = await parts.add(openConsolePart(service));
    // Last but `farewell`, because it serves the routes of all other parts.
    const http = await parts.add(openHttpPart({ ...service, routes: parts.routes, sockets: parts.sockets }));
    await parts.add(farewell);

    if (options.isEmbedded !== true) await parts.listen();
    await parts.start();
    const reloading = new Reloading(given.config, parts.reloadables, clock);
    return new Server({ engine, wire, mcp, messages, http, console, parts, reloading });
  } catch (error) {
    await parts
      .stop(0)
      .catch((fault) => log.warn({ error: String(fault) }, 'a part of the server did not stop cleanly'));
    throw error;
  }
}

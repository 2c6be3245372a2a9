import {
  type AgentRegistry,
  AgentTools,
  agentsTarget,
  childrenFolder,
  FixedTools,
  McpServers,
  openTools,
  type SkilledAgent,
  Skills,
  type StoredWorkflows,
  type ToolSource,
  toolsTarget,
  type WorkflowService,
  WorkflowTools,
} from '@dragoman/core';
import type { AnsweringAgents } from '../agents/answering-agents.ts';
import { approvalRules } from '../config/approval-rules.ts';
import { reloadableApprovals, reloadableServers, reloadableTools } from '../reload/reloadable-parts.ts';
import { adminToolRoutes } from '../routes/admin-tools.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface ToolsPartOptions extends Service {
  readonly workflows: WorkflowService;
  readonly stored: StoredWorkflows;
  /** The agents that registered themselves. */
  readonly registry: Pick<AgentRegistry, 'discover'>;
  /** The document search, as tools. */
  readonly knowledge: ToolSource;
}

export interface ToolsPart extends ServerPart {
  readonly servers: McpServers;
  readonly skills: Skills;
  /** The agents with a driver, and the registered agents that are healthy. */
  readonly everyAgent: () => readonly SkilledAgent[];
}

/** Everything that can be called as a tool, and the targets `tools` and `agents`. */
export async function openToolsPart(options: ToolsPartOptions): Promise<ToolsPart> {
  const { config, engine, agents, tools, store, registry, folder, clock, ids, log, gate } = options;
  const fixed = new FixedTools(await openTools(config.tools, options));
  tools.add(fixed);
  tools.approvals.set(approvalRules(config));
  const everyAgent = () => skilledAgents(agents, registry);
  tools.add(new AgentTools({ engine, ids, agents: everyAgent }));
  tools.add(new WorkflowTools({ engine, ids, stored: options.stored }));
  const servers = new McpServers({
    configs: config.mcp_servers,
    clock,
    log,
    folder: childrenFolder(folder),
    pins: store.pins,
    gate,
    reader: options.reader,
    references: options.references,
    version: VERSION,
    howToAccept: options.howToAccept,
  });
  tools.add(servers);
  tools.add(options.knowledge);
  engine.addAgent(toolsTarget('tools'), { maxParallel: 64 });
  const described = () =>
    everyAgent().map((agent) => ({ ...agent, takesMcpServers: engine.router.find(agent.id)?.takesMcpServers }));
  engine.addAgent(agentsTarget(described), { maxParallel: Number.POSITIVE_INFINITY });
  return {
    servers,
    everyAgent,
    skills: new Skills({ engine, ids, agents: (skill) => skilledAgents(agents, registry, skill) }),
    routes: adminToolRoutes({ tools, servers }),
    families: { pins: () => servers.reloadPins() },
    reloadables: [
      reloadableApprovals(tools.approvals),
      reloadableTools(fixed, config.tools, options),
      reloadableServers(servers),
    ],
  };
}

/** The agents with a driver, then the registered agents that are healthy; only those with `skill`, if it is given. */
function skilledAgents(
  agents: AnsweringAgents,
  registry: Pick<AgentRegistry, 'discover'>,
  skill?: string,
): SkilledAgent[] {
  const own: readonly SkilledAgent[] = agents.list();
  const ids = new Set(own.map(({ id }) => id));
  const capabilities = skill === undefined ? [] : [skill];
  const { agents: found } = registry.discover({ capabilities, status: 'healthy', limit: Number.POSITIVE_INFINITY });
  // Under an id with a driver, the driver answers, even if another agent registered under it.
  const others = found.filter(({ agentId, owner }) => owner !== undefined && !ids.has(agentId));
  const skilled = others.map(({ agentId: id, name, card: { description }, capabilities: skills }) => {
    return { id, name, description, skills, hasMethods: true };
  });
  return [...own, ...skilled];
}

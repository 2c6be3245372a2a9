import {
  type Apis,
  configuredApis,
  DEFAULT_RATE_LIMITS,
  type Engine,
  FixedTools,
  type Limiter,
  type McpServers,
  type NetworkGate,
  openTools,
  type StoredWorkflows,
  type ToolApprovals,
  type ToolBackends,
} from '@dragoman/core';
import { allowedLists } from '../config/allowed-lists.ts';
import { approvalRules } from '../config/approval-rules.ts';
import type { Config } from '../config/config-schema.ts';
import { configuredWorkflows } from '../config/configured-workflows.ts';
import { ModuleFiles } from './module-files.ts';
import type { Reloadable } from './reload.ts';

// The parts that have little to do to take over a changed configuration. Agents have more: `reloadable-agents.ts`.

export function reloadableGate(gate: NetworkGate): Reloadable {
  return {
    names: ['gate.allow', 'gate.callbacks'],
    prepare: (config) => {
      const lists = allowedLists(config);
      return { put: () => gate.allowOnly(lists) };
    },
  };
}

/** The limits of callers. The limits of peers at the endpoints wait for the next start. */
export function reloadableLimits(limiter: Limiter): Reloadable {
  return {
    names: Object.keys(DEFAULT_RATE_LIMITS).map((name) => `limits.${name}`),
    prepare: ({ limits }) => ({ put: () => limiter.change(limits) }),
  };
}

/** All approval rules, including those of single tools and of MCP servers. */
export function reloadableApprovals(approvals: ToolApprovals): Reloadable {
  return {
    names: ['tool_approvals', 'tools', 'mcp_servers'],
    prepare: (config) => {
      const rules = approvalRules(config);
      return { put: () => approvals.set(rules) };
    },
  };
}

export function reloadableDefault({ router }: Engine): Reloadable {
  return {
    names: ['default_agent'],
    prepare: ({ default_agent }) => ({
      put: () => {
        router.defaultAgent = default_agent;
      },
    }),
  };
}

export function reloadableApis(apis: Apis): Reloadable {
  return {
    names: ['apis'],
    prepare: (config) => {
      const configured = configuredApis(config.apis);
      return { put: () => apis.configure(configured) };
    },
  };
}

export function reloadableTools(tools: FixedTools, entries: Config['tools'], backends: ToolBackends): Reloadable {
  const filesOf = (list: Config['tools'] = []) =>
    new ModuleFiles(list.flatMap((entry) => (typeof entry === 'string' ? entry : (entry.workflow ?? []))));
  let files = filesOf(entries);
  return {
    names: ['tools'],
    isStale: () => files.anyStale,
    prepare: async (config) => {
      const nextFiles = filesOf(config.tools);
      const next = new FixedTools(await openTools(config.tools, backends));
      return {
        put: () => {
          tools.become(next);
          files = nextFiles;
        },
      };
    },
  };
}

export function reloadableWorkflows(stored: StoredWorkflows, config: Config): Reloadable {
  const filesOf = ({ workflows = {} }: Config) =>
    new ModuleFiles(Object.values(workflows.stored ?? {}).map(({ file }) => file));
  let files = filesOf(config);
  return {
    names: ['workflows.stored'],
    isStale: () => files.anyStale,
    prepare: (next) => {
      const nextFiles = filesOf(next);
      const workflows = stored.configured(configuredWorkflows(next));
      return {
        put: () => {
          stored.configure(workflows);
          files = nextFiles;
        },
      };
    },
  };
}

export function reloadableServers(servers: McpServers): Reloadable {
  return {
    names: ['mcp_servers'],
    prepare: ({ mcp_servers }) => {
      servers.check(mcp_servers);
      return { put: () => servers.change(mcp_servers) };
    },
  };
}

import type { ApprovalRule } from '@dragoman/core';
import type { CompleteConfig } from './complete-config.ts';

/** Every approval rule of the configuration, the most specific first: of one tool, of a pattern, of an MCP server. */
export function approvalRules({
  tools,
  tool_approvals: patterns,
  mcp_servers: servers,
}: Pick<CompleteConfig, 'tools' | 'tool_approvals' | 'mcp_servers'>): ApprovalRule[] {
  const own = tools.flatMap((tool) =>
    typeof tool === 'string' || tool.approval === undefined ? [] : [{ tools: tool.name, approval: tool.approval }],
  );
  const served = Object.entries(servers).flatMap(([name, { approval }]) =>
    approval === undefined ? [] : [{ tools: `${name}__*`, approval }],
  );
  return [...own, ...patterns.map(({ tools: pattern, approval }) => ({ tools: pattern, approval })), ...served];
}

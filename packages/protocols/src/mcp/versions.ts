/** The revision without sessions: every request names its version. */
export const MCP_MODERN_VERSION = '2026-07-28';

/** The revisions that open a session with `initialize`, newest first. */
export const MCP_LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export const MCP_VERSIONS: readonly string[] = [MCP_MODERN_VERSION, ...MCP_LEGACY_VERSIONS];

/** The version of a session: the one the client asks for, or the newest we have (lifecycle, Version Negotiation). */
export function legacyVersionFor(requested: string): string {
  return MCP_LEGACY_VERSIONS.find((version) => version === requested) ?? MCP_LEGACY_VERSIONS[0];
}

export function isLegacyVersion(version: string | undefined): boolean {
  return MCP_LEGACY_VERSIONS.some((one) => one === version);
}

/** The reserved keys of `_meta`. */
export const MCP_META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** The extension by which a call returns a task instead of its result. */
export const MCP_TASKS = 'io.modelcontextprotocol/tasks';

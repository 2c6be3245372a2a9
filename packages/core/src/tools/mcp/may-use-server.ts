import type { Principal } from '../../call/principal.ts';

/**
 * Permissions cannot name resources and prompts, so a caller that may use one tool of an MCP server may use those, too.
 */
export function mayUseServer({ permissions }: Principal, server: string): boolean {
  return permissions.tools.some((name) => name === '*' || name.startsWith(`${server}__`));
}

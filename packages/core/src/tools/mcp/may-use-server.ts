import type { Principal } from '../../call/principal.ts';

/** A caller that may use one tool of an MCP server may also use its resources and prompts: permissions have no names for those. */
export function mayUseServer({ permissions }: Principal, server: string): boolean {
  return permissions.tools.some((name) => name === '*' || name.startsWith(`${server}__`));
}

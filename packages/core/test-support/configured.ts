import type { Static } from '@dragoman/protocols';
import { withDefaults } from '../src/schema/with-defaults.ts';
import {
  type ConfiguredMcpServer,
  type ConfiguredTool,
  McpServerShape,
  ToolEntryShape,
} from '../src/tools/tools-config.ts';

/** One of `tools:` as a test writes it. */
export type GivenTool = Exclude<Static<typeof ToolEntryShape>, string>;
/** One of `mcp_servers:` as a test writes it. */
export type GivenMcpServer = Static<typeof McpServerShape>;

/** With its defaults, as the server gets it. */
export function toolEntry(given: GivenTool): ConfiguredTool {
  return withDefaults(ToolEntryShape, given) as ConfiguredTool;
}

export function mcpServer(given: GivenMcpServer): ConfiguredMcpServer {
  return withDefaults(McpServerShape, given);
}

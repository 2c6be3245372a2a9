import { configuredTool, type ToolBackends } from './configured-tool.ts';
import { loadTools } from './load-tools.ts';
import type { Tool } from './tool.ts';
import type { ToolEntry } from './tools-config.ts';

/** Opens every tool that `tools:` names, in that order. */
export async function openTools(entries: readonly ToolEntry[], backends: ToolBackends): Promise<Tool[]> {
  const tools: Tool[] = [];
  for (const entry of entries) {
    if (typeof entry === 'string') tools.push(...(await loadTools(entry)));
    else tools.push(configuredTool(entry, backends));
  }
  return tools;
}

import type { Tool, ToolSource } from './tool.ts';

/** Tools that are there from the start and stay. */
export class FixedTools implements ToolSource {
  readonly #tools = new Map<string, Tool>();

  constructor(tools: Iterable<Tool> = []) {
    for (const tool of tools) this.add(tool);
  }

  add(tool: Tool): void {
    const { name } = tool.definition;
    if (this.#tools.has(name)) throw new Error(`tools: there are two tools named ${name}`);
    this.#tools.set(name, tool);
  }

  tools(): Iterable<Tool> {
    return this.#tools.values();
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name);
  }
}

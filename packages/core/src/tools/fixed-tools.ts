import type { Tool, ToolSource } from './tool.ts';

/** A source with a fixed list of tools. */
export class FixedTools implements ToolSource {
  version = 1;
  #tools: ReadonlyMap<string, Tool>;

  constructor(tools: Iterable<Tool> = []) {
    this.#tools = byName(tools);
  }

  /** Replaces its list with that of another source. */
  become(other: FixedTools): void {
    this.#tools = other.#tools;
    this.version += 1;
  }

  tools(): Iterable<Tool> {
    return this.#tools.values();
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name);
  }
}

function byName(tools: Iterable<Tool>): ReadonlyMap<string, Tool> {
  const found = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool.definition;
    if (found.has(name)) throw new Error(`tools: there are two tools named ${name}`);
    found.set(name, tool);
  }
  return found;
}

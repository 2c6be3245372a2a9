import { loadModule } from '../modules/load-module.ts';
import { isToolSpec, problemOf, toolFrom } from './define-tool.ts';
import type { Tool } from './tool.ts';

/** Every tool that a JavaScript or TypeScript file exports, under whatever name. */
export async function loadTools(path: string): Promise<Tool[]> {
  const module = await loadModule('tools', path);
  const exported = Object.values(module).flatMap((value) => (Array.isArray(value) ? value : [value]));
  // A tool may be exported under two names, such as `default`.
  const specs = [...new Set(exported.filter(isToolSpec))];
  if (specs.length === 0) {
    throw new Error(
      `tools ${path}: it exports no tool (got ${Object.keys(module).join(', ') || 'nothing'}). Write: export const hello = defineTool({ name, description, input, run })`,
    );
  }
  return specs.map((spec) => {
    const problem = problemOf(spec);
    if (problem !== undefined) throw new Error(`tools ${path}: ${problem}`);
    return toolFrom(spec);
  });
}

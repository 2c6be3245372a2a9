import { allows } from '../../call/principal.ts';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import type { Source, ThingType } from '../thing.ts';

/** Returns the tools, or `undefined` before they are open. */
type Registry = () => Pick<ToolRegistry, 'every' | 'version'> | undefined;

/** Tools that can be called, except workflows. */
export function toolSource(registry: Registry): Source {
  return sourceOf('tool', registry);
}

/** Workflows that an operator has stored, to be called by name as a tool. */
export function workflowSource(registry: Registry): Source {
  return sourceOf('workflow', registry);
}

function sourceOf(type: Extract<ThingType, 'tool' | 'workflow'>, registry: Registry): Source {
  return {
    type,
    get version() {
      return registry()?.version ?? 0;
    },
    things: () =>
      (registry()?.every() ?? [])
        .filter(({ answeredBy }) => (answeredBy === 'workflow') === (type === 'workflow'))
        .map(({ definition: { name, description, toolkit, input_schema } }) => ({
          type,
          id: name,
          name,
          text: description,
          ...(toolkit !== null && { context: toolkit }),
          details: { tool: name, input_schema: input_schema ?? null },
        })),
    permits: ({ permissions }, { id }) => allows(permissions.tools, id),
  };
}

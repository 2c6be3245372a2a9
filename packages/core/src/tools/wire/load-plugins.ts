import { show } from '@dragoman/protocols';
import { loadModule } from '../../load-module.ts';
import type { WirePlugin } from './plugin.ts';

/** Every plugin that a JavaScript or TypeScript file exports, under whatever name. */
export async function loadPlugins(path: string): Promise<WirePlugin[]> {
  const exported = Object.entries(await loadModule('plugin', path)).filter(([, value]) => isMeant(value));
  if (exported.length === 0) {
    throw new Error(
      `plugin ${path}: it exports no plugin. Write: export const weather = { name, capability, messages: ['weather/get/req'], handle(message, call) { … } }`,
    );
  }
  for (const [as, value] of exported) {
    const problem = problemOf(value as Members);
    if (problem !== undefined) throw new Error(`plugin ${path}: ${problem} in what it exports as ${as}`);
  }
  // One that is exported under two names, `default` say, is one.
  return [...new Set(exported.map(([, value]) => value as WirePlugin))];
}

/** A file may export what helps its plugins too; whatever takes messages is meant to be one. */
function isMeant(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'handle' in value || 'messages' in value;
}

function problemOf(plugin: Members): string | undefined {
  const { name, capability, messages, handle, priority = 0, exclusive = false } = plugin;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
    return `name must be 1 to 64 letters, digits, "_" or "-"; got ${shown(name)}`;
  }
  if (typeof capability !== 'string' || capability === '') return `capability must be a text; got ${shown(capability)}`;
  if (!Array.isArray(messages) || messages.some((type) => typeof type !== 'string')) {
    return `messages must be a list of types such as "weather/get/req"; got ${shown(messages)}`;
  }
  if (typeof priority !== 'number' || Number.isNaN(priority))
    return `priority must be a number; got ${shown(priority)}`;
  if (typeof exclusive !== 'boolean') return `exclusive must be true or false; got ${shown(exclusive)}`;
  if (typeof handle !== 'function') return `handle must be a function; got ${shown(handle)}`;
  const odd = OPTIONAL.find((member) => plugin[member] !== undefined && typeof plugin[member] !== 'function');
  return odd === undefined ? undefined : `${odd} must be a function; got ${shown(plugin[odd])}`;
}

function shown(value: unknown): string {
  return value === undefined || typeof value === 'function' ? typeof value : show(value as never);
}

type Members = Partial<Record<keyof WirePlugin, unknown>>;

const OPTIONAL = ['setup', 'save', 'restore', 'teardown'] as const;

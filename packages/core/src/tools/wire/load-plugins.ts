import { loadModule } from '../../load-module.ts';
import type { WirePlugin } from './plugin.ts';

/** Every plugin that a JavaScript or TypeScript file exports, under whatever name. */
export async function loadPlugins(path: string): Promise<WirePlugin[]> {
  const module = await loadModule('plugin', path);
  const plugins = Object.values(module).filter(isPlugin);
  if (plugins.length > 0) return plugins;
  throw new Error(
    `plugin ${path}: it exports no plugin. Write: export const weather = { name, capability, messages: ['weather/get/req'], handle(message, call) { … } }`,
  );
}

function isPlugin(value: unknown): value is WirePlugin {
  const { name, capability, messages, handle } = Object(value) as Partial<Record<keyof WirePlugin, unknown>>;
  const isNamed = typeof name === 'string' && /^[\w-]{1,64}$/.test(name) && typeof capability === 'string';
  return isNamed && Array.isArray(messages) && typeof handle === 'function';
}

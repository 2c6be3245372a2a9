import { isObject, nearest, show } from '@dragoman/protocols';
import { loadModule } from '../../modules/load-module.ts';
import { schemaMistake } from '../schema-mistake.ts';
import { answerTypeOf, ownPlugin } from './own-plugin.ts';
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
    if (problem !== undefined) throw new Error(`plugin ${path}, export ${as}: ${problem}`);
  }
  // A plugin may be exported under two names, such as `default`.
  return [...new Set(exported.map(([, value]) => value as WirePlugin))].map(ownPlugin);
}

/** Whether an export is meant as a plugin: a file may also export helpers. */
function isMeant(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'handle' in value || 'messages' in value;
}

function problemOf(plugin: Members): string | undefined {
  const { name, capability, messages, handle, priority = 0, exclusive = false } = plugin;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
    return `name must be 1 to 64 letters, digits, "_" or "-"; got ${shown(name)}`;
  }
  if (typeof capability !== 'string' || capability === '')
    return `capability must be a string; got ${shown(capability)}`;
  if (!Array.isArray(messages) || messages.length === 0 || messages.some((type) => typeof type !== 'string')) {
    return `messages must be a list of types such as "weather/get/req"; got ${shown(messages)}`;
  }
  if (typeof priority !== 'number' || Number.isNaN(priority))
    return `priority must be a number; got ${shown(priority)}`;
  if (typeof exclusive !== 'boolean') return `exclusive must be true or false; got ${shown(exclusive)}`;
  const schemaFault = schemasFault(plugin.schemas, messages);
  if (schemaFault !== undefined) return schemaFault;
  if (typeof handle !== 'function') return `handle must be a function; got ${shown(handle)}`;
  const odd = OPTIONAL.find((member) => plugin[member] !== undefined && typeof plugin[member] !== 'function');
  return odd === undefined ? undefined : `${odd} must be a function; got ${shown(plugin[odd])}`;
}

function schemasFault(schemas: unknown, messages: readonly string[]): string | undefined {
  if (schemas === undefined) return undefined;
  if (!isObject(schemas as never)) return `schemas must be an object of JSON Schemas by type; got ${shown(schemas)}`;
  const known = [...messages, ...messages.map(answerTypeOf)];
  for (const [type, schema] of Object.entries(schemas as object)) {
    if (!known.includes(type)) {
      const close = nearest(type, known);
      return `schemas names ${show(type)}, which is neither one of messages nor the answer to one${close === undefined ? '' : `; did you mean ${show(close)}?`}`;
    }
    if (!isObject(schema))
      return `schemas[${show(type)}] must be a JSON Schema, such as { type: 'object' }; got ${shown(schema)}`;
    const mistake = schemaMistake(schema);
    if (mistake !== undefined) return `schemas[${show(type)}]: ${mistake}`;
  }
  return undefined;
}

function shown(value: unknown): string {
  return value === undefined || typeof value === 'function' ? typeof value : show(value as never);
}

type Members = Partial<Record<keyof WirePlugin, unknown>>;

const OPTIONAL = ['setup', 'save', 'restore', 'teardown'] as const;

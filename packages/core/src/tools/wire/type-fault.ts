import { show } from '@dragoman/protocols';
import { aliasOf, lookup, TYPE_PATTERN } from '@dragoman/protocols/a2e-wire';
import type { WirePlugin } from './plugin.ts';

/** Throws where a plugin names a type that no agent can ever call, so that its author learns it at the start. */
export function requireCallable(plugins: readonly WirePlugin[]): void {
  const capabilities = new Set(plugins.map(({ capability }) => capability));
  for (const { name, messages } of plugins) {
    for (const type of messages) {
      const fault = typeFault(type, capabilities);
      if (fault !== undefined) throw new Error(`plugin ${name}: the type ${show(type)} can never be called: ${fault}`);
    }
  }
}

function typeFault(type: string, capabilities: ReadonlySet<string>): string | undefined {
  if (type === '*') return undefined;
  if (!TYPE_NAME.test(type)) {
    return 'a type is one to five words with "/" between them, each of lower-case letters, digits, "_" or "-", such as "weather/get/req"';
  }
  const ours = aliasOf(type);
  if (ours !== undefined) return `it is read as ${show(ours)}; name that`;
  const row = lookup(type);
  if (row === undefined) return ANSWER_NAME.test(type) ? NOT_ASKED : undefined;
  if (row.role !== 'request' || row.from === 'host') return NOT_ASKED;
  const { capability } = row;
  if (capability === undefined || type === 'tool/cancel/req') return 'the connection itself handles it';
  if (capabilities.has(capability)) return undefined;
  return `the handshake grants it with the capability ${show(capability)}, which no plugin has; set capability: ${show(capability)}`;
}

const NOT_ASKED = 'agents do not send it; name the request that it answers';
const TYPE_NAME = new RegExp(TYPE_PATTERN);
/** A2E wire, Type String Convention. */
const ANSWER_NAME = /\/(resp|event)$/;

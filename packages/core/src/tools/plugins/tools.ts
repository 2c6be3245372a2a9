import type { JsonObject } from '@dragoman/protocols';
import { isMessage } from '@dragoman/protocols/a2e-wire';
import type { Clock } from '../../ports.ts';
import type { ToolRegistry } from '../tool-registry.ts';
import type { WirePlugin } from '../wire/plugin.ts';

/** `tool/*`: what there is, and calling it. Cancelling is the connection's own business. */
export function toolsPlugin({ tools, clock }: { tools: ToolRegistry; clock: Clock }): WirePlugin {
  return {
    name: 'tools',
    capability: 'tools',
    messages: ['tool/list/req', 'tool/call/req'],
    handle(message, call) {
      const { principal } = call.session;
      if (isMessage(message, 'tool/list/req')) {
        const { query, filter_tags: tags, include_deferred: deferred, filter_kind: kind } = message;
        const found = tools.list(principal, { query, deferred, tags: kind === '' ? tags : [...tags, kind] });
        return { tools: found as unknown as JsonObject[] };
      }
      if (!isMessage(message, 'tool/call/req')) return undefined;
      const { tool_name: name, arguments: args, timeout, streaming } = message;
      const request = { name, args, principal, signal: call.signal, timeoutMs: timeout * 1000 };
      const called = tools.call(streaming ? { ...request, onEvent: (event) => call.event({ ...event }) } : request);
      return called.then((result) => ({
        data: result as unknown as JsonObject,
        created_at: clock.now().getTime() / 1000,
      }));
    },
  };
}

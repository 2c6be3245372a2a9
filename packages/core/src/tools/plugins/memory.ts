import type { JsonObject } from '@dragoman/protocols';
import { isMessage } from '@dragoman/protocols/a2e-wire';
import type { Clock, Log } from '../../ports/ports.ts';
import { everyHour } from '../../time/every-hour.ts';
import type { Memories } from '../memory/memories.ts';
import type { WirePlugin } from '../wire/plugin.ts';

export interface MemoryPluginOptions {
  readonly memories: Memories;
  readonly clock: Clock;
  readonly log: Log;
}

/** `memory/*`: stores, finds and forgets entries of agents. */
export function memoryPlugin({ memories, clock, log }: MemoryPluginOptions): WirePlugin {
  const stopped = new AbortController();
  return {
    name: 'memory',
    capability: 'memory',
    messages: ['memory/init/req', 'memory/store/req', 'memory/retrieve/req', 'memory/forget/req'],
    async setup() {
      const failed = 'memories that have expired could not be forgotten';
      void everyHour(() => memories.purge(), { clock, log, signal: stopped.signal, failed });
    },
    async handle(message, { session, ending }) {
      if (isMessage(message, 'memory/init/req')) {
        const { namespace, scope } = message;
        return { memory_id: await memories.open(session, namespace, scope), namespace, success: true };
      }
      if (isMessage(message, 'memory/store/req')) {
        return memories.store(session, message.memory_id, message.entries, ending);
      }
      if (isMessage(message, 'memory/retrieve/req')) {
        const { memory_id, keys, query, tags, tier, limit, min_score: minScore } = message;
        const wanted = { keys, query, tags, tier, limit, minScore };
        const { entries, total } = await memories.retrieve(session, memory_id, wanted, ending);
        return { entries: entries as unknown as JsonObject[], total };
      }
      if (!isMessage(message, 'memory/forget/req')) return undefined;
      const { memory_id, keys, tags, all, tier } = message;
      return { deleted: await memories.forget(session, memory_id, { keys, tags, all, tier }) };
    },
    teardown: async () => stopped.abort(),
  };
}

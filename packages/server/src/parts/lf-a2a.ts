import { LfA2aTasks, PushNotifications } from '@dragoman/core';
import { A2aCards } from '../agents/a2a-cards.ts';
import type { DiscoveryContext } from '../routes/discovery.ts';
import { lfA2aRoutes } from '../routes/lf-a2a.ts';
import { versionOf } from '../routes/lf-a2a-bindings.ts';
import type { OutboxPart } from './outbox.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface LfA2aPart extends ServerPart {
  /** The card of the default agent, for the root of the server. */
  readonly rootCard: DiscoveryContext['rootCard'];
}

export interface LfA2aPartOptions extends Service {
  readonly callbacks: Pick<OutboxPart, 'outbox' | 'keys' | 'useHeaders'>;
}

/** Serves every agent of this server over Linux Foundation A2A. */
export function openLfA2aPart(service: LfA2aPartOptions): LfA2aPart {
  const { engine, store, cluster, gate, vault, clock, log, agents, tools, config, callbacks } = service;
  const { outbox, keys } = callbacks;
  const cards = new A2aCards({
    agents,
    tools,
    keys,
    defaultAgent: () => engine.router.defaultAgent,
    publicCards: config.lf_a2a.public_cards,
    publicUrl: config.public_url ?? config.mailbox.url,
  });
  const tasks = new LfA2aTasks({ engine, store, clock, log });
  const mostQueued = config.mailbox.callbacks.queued_per_agent;
  const pushes = new PushNotifications({ tasks, store, outbox, gate, vault, clock, log, mostQueued });
  callbacks.useHeaders((id) => pushes.headersFor(id));
  return {
    routes: lfA2aRoutes({
      tasks,
      pushes,
      cards,
      clock,
      maxBytes: config.limits.body_bytes,
      agentIn: (id) => id ?? engine.router.defaultAgent,
      jwk: keys.jwk,
    }),
    start: async () => {
      await pushes.start();
      cluster?.listen({ takeOver: () => pushes.start() });
    },
    stop: () => pushes.stop(),
    rootCard: {
      async unsigned(request, others) {
        const id = engine.router.defaultAgent;
        return id === undefined ? undefined : cards.unsigned(id, request, versionOf(request) ?? '1.0', others);
      },
      sign: (card, request) => cards.sign(card, request),
    },
  };
}

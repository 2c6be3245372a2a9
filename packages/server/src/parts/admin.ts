import { type LoadedOperations, provideAdminKey, type WorkflowService } from '@dragoman/core';
import { adminAgentRoutes } from '../routes/admin-agents.ts';
import { adminDataRoutes } from '../routes/admin-data.ts';
import { adminRequestRoutes } from '../routes/admin-requests.ts';
import { adminQuestionRoutes } from '../routes/questions.ts';
import type { AgentsPart } from './agents.ts';
import type { MessagesPart } from './messages.ts';
import type { OutboxPart } from './outbox.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';
import type { WirePart } from './wire.ts';

export interface AdminPartOptions extends Service {
  readonly drivers: Pick<AgentsPart, 'open' | 'reload' | 'configured'>;
  readonly callbacks: Pick<OutboxPart, 'keys'>;
  readonly messages: Pick<MessagesPart, 'registry'>;
  readonly workflows: WorkflowService;
  readonly operations: LoadedOperations;
  readonly wire: Pick<WirePart, 'audited'>;
}

/** Administration that concerns several parts, and the operator's key. */
export function openAdminPart(options: AdminPartOptions): ServerPart {
  const { engine, store, drivers, callbacks, messages, workflows, operations, wire, log } = options;
  return {
    routes: [
      ...adminAgentRoutes({
        engine,
        openAgent: drivers.open,
        inTurn: (agentId, change) =>
          store.inTurn?.(`agent ${agentId}`, async () => {
            await drivers.reload();
            return change();
          }) ?? change(),
        configured: drivers.configured,
        callbackSecrets: callbacks.keys,
        registrations: messages.registry,
      }),
      ...adminQuestionRoutes({ engine }),
      ...adminDataRoutes({ engine, store, workflows, log }),
      ...adminRequestRoutes({
        engine,
        store,
        principalNamed: (id) => engine.principalNamed(id),
        operations: operations.catalog.own,
        audited: (id) => wire.audited(id),
      }),
    ],
    start: async () => {
      if (store.inTurn === undefined) return provideAdminKey(engine.keys, options);
      // Nodes that start together must agree on one key.
      await store.inTurn('admin key', async () => {
        await engine.keys.load();
        await provideAdminKey(engine.keys, options);
      });
    },
  };
}

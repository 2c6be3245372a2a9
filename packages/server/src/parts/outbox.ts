import { Outbox, OutboxOperator, SigningKeys } from '@dragoman/core';
import { outboxSettings } from '../config/mailbox-config.ts';
import { adminOutboxRoutes } from '../routes/admin-outbox.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';
import { signingKey } from './signing-key.ts';

export interface OutboxPart extends ServerPart {
  readonly outbox: Outbox;
  /** The keys that sign callbacks and cards. */
  readonly keys: SigningKeys;
  /** Provides the header fields that receivers configured for their deliveries. */
  useHeaders(headersFor: HeadersFor): void;
}

type HeadersFor = (deliveryId: string) => Promise<Readonly<Record<string, string>> | string>;

/** The callbacks of every protocol. */
export async function openOutboxPart(service: Service): Promise<OutboxPart> {
  const { cluster, engine, store, gate, signatures, clock, ids, log, config } = service;
  let headersFor: HeadersFor = async () => ({});
  const keys = new SigningKeys({
    store: store.outbox,
    signatures,
    key: await signingKey(service, { file: 'callbacks.pem', signs: 'callbacks', isEd25519: true }),
  });
  const outbox = new Outbox({
    store: store.outbox,
    gate,
    keys,
    clock,
    ids,
    log,
    headersFor: (id) => headersFor(id),
    isRegistered: (owner) => engine.callers.find(owner) !== undefined,
    settings: outboxSettings(config.mailbox),
    purgeTime: engine.purgeTime,
  });
  return {
    outbox,
    keys,
    useHeaders: (given) => {
      headersFor = given;
    },
    routes: adminOutboxRoutes(new OutboxOperator({ outbox, store: store.outbox, clock })),
    families: {
      agents: async () => {
        keys.reload();
        return true;
      },
    },
    start: async () => {
      await outbox.start();
      cluster?.listen({ takeOver: () => outbox.claim(), lost: () => outbox.letGo() });
    },
    // Stops after the engine and the parts that add callbacks, so that their last callbacks are tried, too.
    stop: (drainMs) => outbox.stop({ drainMs }),
  };
}

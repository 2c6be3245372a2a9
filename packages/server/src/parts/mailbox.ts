import {
  AnonymousQuota,
  anonymousOwner,
  CallbackLimits,
  Directory,
  Mailbox,
  Outbox,
  SigningKeys,
} from '@dragoman/core';
import { MailboxLimits } from '../callers/mailbox-limits.ts';
import {
  anonymousAgents,
  anonymousQuotaSettings,
  anonymousSender,
  mailboxSettings,
  mailboxTerms,
  outboxSettings,
} from '../config/mailbox-config.ts';
import { adminOutboxRoutes } from '../routes/admin-outbox.ts';
import { type CardExtension, type DiscoveryContext, discoveryRoutes } from '../routes/discovery.ts';
import { mailboxRoutes } from '../routes/mailbox.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface MailboxPartOptions extends Service {
  /** What else its card tells of. */
  readonly extensions: () => readonly CardExtension[];
  readonly agentCard: DiscoveryContext['agentCard'];
}

/** The mailbox and everything that belongs to it. */
export interface MailboxPart extends ServerPart {
  readonly keys: SigningKeys;
}

/** Puts the mailbox together as configured. */
export function openMailboxPart(options: MailboxPartOptions): MailboxPart {
  const { config, folder, engine, agents, store, gate, signatures, clock, ids, log } = options;
  const { mailbox: mailboxConfig } = config;
  const { callbacks } = mailboxConfig;
  const terms = mailboxTerms(mailboxConfig);
  const addressees = () => agents.list();
  const keys = new SigningKeys({
    store: store.outbox,
    signatures,
    log,
    ...(config.store !== 'memory' && { folder }),
  });
  const outbox = new Outbox({
    store: store.outbox,
    gate,
    keys,
    clock,
    ids,
    log,
    isRegistered: (owner) => engine.callers.find(owner) !== undefined,
    settings: outboxSettings(mailboxConfig),
    purgeTime: engine.purgeTime,
  });
  const identity = { name: mailboxConfig.name, agentId: mailboxConfig.agentId };
  const mailbox = new Mailbox({
    engine,
    store,
    outbox,
    gate,
    clock,
    ids,
    log,
    directory: new Directory({ identity, addressees }),
    callbackLimits: new CallbackLimits({
      clock,
      settings: {
        queuedPerSender: callbacks.queued_per_agent,
        anonymousPerHost: callbacks.anonymous_per_host_per_minute,
      },
    }),
    anonymousQuota: new AnonymousQuota({
      store: store.anonymous,
      clock,
      purgeTime: engine.purgeTime,
      settings: anonymousQuotaSettings(mailboxConfig),
    }),
    settings: mailboxSettings(mailboxConfig),
  });
  const limits = new MailboxLimits({
    clock,
    limiter: engine.limiter,
    ...terms,
  });
  return {
    keys,
    routes: [
      ...mailboxRoutes({
        mailbox,
        engine,
        limits,
        content: terms.content,
        clock,
        isOpen: anonymousAgents(mailboxConfig).length > 0,
        anonymousSender: (owner) => anonymousSender(mailboxConfig, owner, agents),
      }),
      ...discoveryRoutes({
        config: mailboxConfig,
        version: VERSION,
        callbackKey: keys.publicKey,
        addressees,
        extensions: options.extensions,
        agentCard: options.agentCard,
        anonymous: () => anonymousSender(mailboxConfig, anonymousOwner('', ''), agents)?.permissions.agents ?? [],
      }),
      ...adminOutboxRoutes(outbox),
    ],
    start: async () => {
      await outbox.start();
      await mailbox.start();
    },
    // After the engine has drained: its last answers are letters and callbacks.
    stop: async (drainMs) => {
      await mailbox.stop();
      await outbox.stop({ drainMs });
    },
  };
}

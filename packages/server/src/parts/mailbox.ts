import { AnonymousQuota, anonymousOwner, CallbackLimits, Directory, MailboxService } from '@dragoman/core';
import { MailboxLimits } from '../callers/mailbox-limits.ts';
import {
  anonymousAgents,
  anonymousQuotaSettings,
  anonymousSender,
  mailboxSettings,
  mailboxTerms,
} from '../config/mailbox-config.ts';
import { type CardExtension, type DiscoveryContext, discoveryRoutes } from '../routes/discovery.ts';
import { mailboxRoutes } from '../routes/mailbox.ts';
import { VERSION } from '../version.ts';
import type { OutboxPart } from './outbox.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface MailboxPartOptions extends Service {
  /** The extensions on the card of the mailbox. */
  readonly extensions: () => readonly CardExtension[];
  readonly rootCard: DiscoveryContext['rootCard'];
  readonly callbacks: Pick<OutboxPart, 'outbox' | 'keys'>;
}

/** Puts the mailbox together as configured. */
export function openMailboxPart(options: MailboxPartOptions): ServerPart {
  const { config, cluster, engine, agents, store, gate, clock, ids, log } = options;
  const { outbox, keys } = options.callbacks;
  const { mailbox: mailboxConfig } = config;
  const { callbacks } = mailboxConfig;
  const terms = mailboxTerms(mailboxConfig);
  const addressees = () => agents.list();
  const identity = { name: mailboxConfig.name, agentId: mailboxConfig.agentId };
  const mailbox = new MailboxService({
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
        publicUrl: config.public_url,
        version: VERSION,
        callbackKey: keys.publicKey,
        addressees,
        extensions: options.extensions,
        rootCard: options.rootCard,
        anonymous: () => anonymousSender(mailboxConfig, anonymousOwner('', ''), agents)?.permissions.agents ?? [],
      }),
    ],
    start: async () => {
      await mailbox.start();
      cluster?.listen({ takeOver: () => mailbox.claim() });
    },
    // Stops after the engine has drained, because the last answers of the engine become letters and callbacks.
    stop: () => mailbox.stop(),
  };
}

import {
  AnonymousQuota,
  anonymousOwner,
  CallbackLimits,
  Directory,
  Mailbox,
  Outbox,
  type Signatures,
  SigningKeys,
} from '@dragoman/core';
import type { AnsweringAgents } from './answering-agents.ts';
import {
  anonymousAgents,
  anonymousQuotaSettings,
  anonymousSender,
  mailboxSettings,
  mailboxTerms,
  outboxSettings,
} from './mailbox-config.ts';
import { MailboxLimits } from './mailbox-limits.ts';
import type { Route } from './route.ts';
import { adminOutboxRoutes } from './routes/admin-outbox.ts';
import { type CardExtension, DEFAULT_NAME, discoveryRoutes } from './routes/discovery.ts';
import { mailboxRoutes } from './routes/mailbox.ts';
import type { ServiceOptions } from './service-options.ts';
import { VERSION } from './version.ts';

export interface MailboxServiceOptions extends ServiceOptions {
  readonly agents: AnsweringAgents;
  readonly signatures: Signatures;
  /** What else its card tells of. */
  readonly extensions: () => readonly CardExtension[];
}

/** The mailbox and everything that belongs to it. */
export interface MailboxService {
  readonly routes: readonly Route[];
  readonly keys: SigningKeys;
  /** Takes up what an earlier process left. Call it when the engine has started. */
  start(): Promise<void>;
  /** Call it when the engine has stopped. */
  stop(options: { readonly drainMs: number }): Promise<void>;
}

/** Puts the mailbox together as configured. */
export function openMailbox(options: MailboxServiceOptions): MailboxService {
  const { config, folder, engine, agents, store, gate, signatures, clock, ids, log } = options;
  const mailboxConfig = config.mailbox ?? {};
  const { callbacks = {} } = mailboxConfig;
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
  const identity = { name: mailboxConfig.name ?? DEFAULT_NAME, agentId: mailboxConfig.agentId ?? null };
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
        queuedPerSender: callbacks.queued_per_agent ?? 1000,
        anonymousPerHost: callbacks.anonymous_per_host_per_minute ?? 30,
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
        anonymous: () => anonymousSender(mailboxConfig, anonymousOwner('', ''), agents)?.permissions.agents ?? [],
      }),
      ...adminOutboxRoutes(outbox),
    ],
    start: async () => {
      await outbox.start();
      await mailbox.start();
    },
    stop: async ({ drainMs }) => {
      await mailbox.stop();
      await outbox.stop({ drainMs });
    },
  };
}

import { hash } from 'node:crypto';
import { failure } from '@dragoman/protocols';
import {
  type A2aVersion,
  isTerminal,
  type NewTaskPushNotificationConfig,
  type TaskPushNotificationConfig,
  taskTo03,
} from '@dragoman/protocols/lf-a2a';
import type { Principal } from '../../call/principal.ts';
import { unlessAborted } from '../../ending/until-aborted.ts';
import type { Gate } from '../../gate/gate.ts';
import { addressOf } from '../../mailbox/callback-address.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { Refused, refuse } from '../../refusals/refused.ts';
import { claimAll } from '../../store/held.ts';
import { patiently } from '../../store/patiently.ts';
import type { NewDelivery, PushConfigRow, RequestKey, Store } from '../../store/store.ts';
import type { Vault } from '../../vault/vault.ts';
import { eventIdIn, type LfA2aTasks, type NumberedEvent, type OpenTask } from './tasks.ts';

export interface PushNotificationsOptions {
  readonly tasks: LfA2aTasks;
  readonly store: Pick<Store, 'pushConfigs' | 'outbox'>;
  readonly outbox: Pick<Outbox, 'admit' | 'over' | 'queued'>;
  readonly gate: Pick<Gate, 'check'>;
  readonly vault: Pick<Vault, 'seal' | 'unseal'>;
  readonly clock: Clock;
  readonly log: Log;
  /** How many callbacks of one caller may wait. */
  readonly mostQueued: number;
}

/**
 * Sends the events of tasks to the URLs that their callers named.
 *
 *   event → delivery in the outbox and position of the config, in one commit → delivered or given up → next event
 *
 * Each config has one delivery at a time, so events arrive in order, and text that arrives meanwhile is sent as one piece. After a
 * restart each config continues from its position.
 */
export class PushNotifications {
  readonly #options: PushNotificationsOptions;
  readonly #stopped = new AbortController();
  readonly #following = new Map<string, Promise<void>>();

  constructor(options: PushNotificationsOptions) {
    this.#options = options;
  }

  /** Continues the configs of an earlier process. Call it when the outbox has started. */
  async start(): Promise<void> {
    const { store, clock, log } = this.#options;
    const patience = { clock, log, signal: this.#stopped.signal };
    for await (const configs of claimAll((limit) => store.pushConfigs.claim(limit), patience)) {
      for (const config of configs) this.#follow(config);
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled(this.#following.values());
  }

  /** Refuses a config that this caller may not have. Runs before its task is created. */
  async check(
    { id: owner }: Pick<Principal, 'id'>,
    { url }: Pick<NewTaskPushNotificationConfig, 'url'>,
  ): Promise<void> {
    const { gate, store, outbox, mostQueued } = this.#options;
    if (outbox.queued(owner) >= mostQueued) {
      refuse('rate_limited', { retry_after: 60 }, `Queue full: ${mostQueued} callbacks of this caller wait already.`);
    }
    if (!URL.canParse(url)) refuseUrl('url must be an absolute URL');
    if (await store.outbox.isDisabled(owner, addressOf(url))) {
      refuseUrl('url is disabled: it has answered 410 Gone to this caller before');
    }
    const refused = await gate.check(url, 'callbacks');
    if (refused === undefined) return;
    const { message, details } = refused;
    refuseUrl(`url cannot be called: ${[message.replace(/\.$/, ''), ...(details.suggestions ?? [])].join('; ')}`);
  }

  /**
   * Stores a config. `from` is the first event to send: a config in the message of its task gets all events, any other only later ones.
   * Returns `undefined` when there is no such task.
   */
  async create(
    principal: Pick<Principal, 'id'>,
    agentId: string,
    config: TaskPushNotificationConfig,
    { version, from }: { readonly version: A2aVersion; readonly from: 'start' | 'now' },
  ): Promise<TaskPushNotificationConfig | undefined> {
    const { tasks, store, vault, clock } = this.#options;
    const { taskId, id: configId = taskId, url, token, authentication } = config;
    const key = { owner: principal.id, requestId: taskId };
    const now = await tasks.progress(principal, agentId, taskId);
    if (now === undefined) return undefined;
    const name = nameOf(key, configId);
    const secrets = token === undefined && authentication === undefined ? undefined : { token, authentication };
    const kept = await store.pushConfigs.put(
      {
        ...key,
        configId,
        name,
        url: addressOf(url),
        version,
        secrets: secrets === undefined ? null : await vault.seal(JSON.stringify(secrets), name),
        createdAt: clock.now().getTime(),
        position: from === 'start' ? '' : now.lastEvent,
        isOver: from === 'now' && isTerminal(now.task.status.state),
      },
      MOST_CONFIGS,
    );
    if (!kept) refuse('conflict', {}, `A task can have ${MOST_CONFIGS} push notification configs. Delete one first.`);
    const row = await store.pushConfigs.named(name);
    if (row !== undefined && !row.isOver) this.#follow(row);
    return row && this.#shown(row);
  }

  async find(key: RequestKey, agentId: string, configId: string): Promise<TaskPushNotificationConfig | undefined> {
    const row = await this.#options.store.pushConfigs.find(key, configId);
    return row?.agentId === agentId ? this.#shown(row) : undefined;
  }

  async list(key: RequestKey): Promise<TaskPushNotificationConfig[]> {
    return Promise.all((await this.#options.store.pushConfigs.list(key)).map((row) => this.#shown(row)));
  }

  remove(key: RequestKey, configId: string): Promise<boolean> {
    return this.#options.store.pushConfigs.remove(key, configId);
  }

  /**
   * The headers of a delivery, or the reason why it is not sent. Empty for a delivery that is not a push notification.
   */
  async headersFor(deliveryId: string): Promise<Readonly<Record<string, string>> | string> {
    const [, name] = /^push-([0-9a-f]{32})-/.exec(deliveryId) ?? [];
    if (name === undefined) return {};
    const row = await this.#options.store.pushConfigs.named(name);
    if (row === undefined) return 'its push notification config was deleted';
    const secrets = await this.#secretsOf(row);
    if (secrets === undefined)
      return 'the token of its push notification config cannot be decrypted; create the config again';
    const { token, authentication } = secrets;
    const { scheme, credentials = '' } = authentication ?? {};
    return {
      'content-type': row.version === '0.3' ? 'application/json' : 'application/a2a+json',
      // The official SDKs use the first name, the specification the second.
      ...(token !== undefined && { 'x-a2a-notification-token': token, 'a2a-notification-token': token }),
      ...(scheme !== undefined && { authorization: credentials === '' ? scheme : `${scheme} ${credentials}` }),
    };
  }

  /** A config as its owner sees it, without its credentials, which only the receiver gets. */
  async #shown(row: PushConfigRow): Promise<TaskPushNotificationConfig> {
    const { requestId: taskId, configId: id, url } = row;
    const { token, authentication } = (await this.#secretsOf(row)) ?? {};
    return {
      taskId,
      id,
      url,
      ...(token !== undefined && { token }),
      ...(authentication !== undefined && { authentication: { scheme: authentication.scheme } }),
    };
  }

  /** `undefined` when the secrets cannot be decrypted. */
  async #secretsOf({ secrets, name }: PushConfigRow): Promise<Secrets | undefined> {
    if (secrets === null) return {};
    const text = await this.#options.vault.unseal(secrets, name);
    return text === undefined ? undefined : (JSON.parse(text) as Secrets);
  }

  #follow(config: PushConfigRow): void {
    const { name } = config;
    if (this.#following.has(name) || this.#stopped.signal.aborted) return;
    const following = this.#send(config)
      .catch((error: unknown) => {
        if (this.#stopped.signal.aborted) return;
        this.#options.log.error({ request_id: config.requestId, error: String(error) }, 'push notifications stopped');
      })
      .finally(() => this.#following.delete(name));
    this.#following.set(name, following);
  }

  async #send(config: PushConfigRow): Promise<void> {
    const { tasks, store, outbox } = this.#options;
    const { signal } = this.#stopped;
    const { owner, requestId: taskId, agentId, position } = config;
    await unlessAborted(outbox.over(deliveryIdOf(config, position)), signal);
    const task = await tasks.follow({ id: owner }, agentId, { taskId, signal });
    if (task === undefined) return;
    for await (const { id, body, isOver } of notifications(task, config)) {
      // The owner may have changed the URL.
      const { url } = (await store.pushConfigs.named(config.name)) ?? config;
      const delivery = this.#deliveryOf({ ...config, url }, id, body);
      const { clock, log } = this.#options;
      const advance = () => store.pushConfigs.advance(config.name, { position: id, isOver, delivery });
      const advanced = await patiently(advance, {
        clock,
        log,
        signal,
        what: 'a push notification',
        isRepeatable: true,
      });
      if (!advanced) return;
      outbox.admit({ ...delivery, attempts: 0, nextAt: delivery.createdAt });
      await unlessAborted(outbox.over(delivery.id), signal);
      if (isOver) return;
      if (!(await store.outbox.isDisabled(owner, url))) continue;
      await store.pushConfigs.advance(config.name, { position: id, isOver: true, delivery: null });
      return;
    }
  }

  #deliveryOf({ owner, requestId, url, ...config }: PushConfigRow, position: string, body: string): NewDelivery {
    const id = deliveryIdOf(config, position);
    const createdAt = this.#options.clock.now().getTime();
    return { id, owner, requestId, messageId: id, url, body, priority: 1, expiresAt: null, createdAt };
  }
}

/** The content of one POST to the receiver. */
interface Notification {
  /** The id of the last event in `body`. */
  readonly id: string;
  readonly body: string;
  /** Whether this is the last notification of the task. */
  readonly isOver: boolean;
}

/**
 * The notifications after a position. 1.0 gets every event. 0.3 gets the current task when its status has changed, because receivers
 * of 0.3 read tasks.
 */
async function* notifications(task: OpenTask, { position, version }: PushConfigRow): AsyncGenerator<Notification> {
  if (position === '') yield { id: 'task', body: bodyOf({ task: task.current() }, version, task), isOver: false };
  const events = task.events(eventIdIn(position) ?? eventIdIn('task'), { longest: LONGEST });
  for await (const batch of events) {
    const last = batch.at(-1);
    if (last === undefined) continue;
    if (version !== '0.3') {
      for (const { id, event } of batch) yield { id, body: JSON.stringify(event), isOver: isLast(event) };
    } else if (batch.some(({ event }) => 'statusUpdate' in event)) {
      yield { id: last.id, body: bodyOf(last.event, version, task), isOver: isLast(last.event) };
    }
  }
}

function bodyOf(event: NumberedEvent['event'], version: string, task: OpenTask): string {
  return JSON.stringify(version === '0.3' ? taskTo03(task.current()) : event);
}

function isLast(event: NumberedEvent['event']): boolean {
  return 'statusUpdate' in event && isTerminal(event.statusUpdate.status.state);
}

type Secrets = Pick<NewTaskPushNotificationConfig, 'token' | 'authentication'>;

function nameOf({ owner, requestId }: RequestKey, configId: string): string {
  return hash('sha256', JSON.stringify([owner, requestId, configId]), 'hex').slice(0, 32);
}

/** The same id for the same event, at every try and after a restart, so that the receiver recognises a repeat. */
function deliveryIdOf({ name }: Pick<PushConfigRow, 'name'>, position: string): string {
  return `push-${name}-${position}`;
}

function refuseUrl(message: string): never {
  throw new Refused(failure('invalid_message', { issues: [{ pointer: '/url', code: 'refused', message }] }, message));
}

const MOST_CONFIGS = 10;
/** The limit on the characters of text in one notification. */
const LONGEST = 65_536;

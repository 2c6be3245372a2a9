import { setMaxListeners } from 'node:events';
import { drained } from '../ending/drained.ts';
import { Ending } from '../ending/ending.ts';
import type { Gate } from '../gate/gate.ts';
import { KnownUrls } from '../gate/known-urls.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { failureOf, refuse } from '../refusals/refused.ts';
import { claimAll } from '../store/held.ts';
import { patiently } from '../store/patiently.ts';
import type { DeliveryFailure, DeliveryRow, DueDelivery, OutboxPage, OutboxStore } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { everyHour, ONE_HOUR } from '../time/every-hour.ts';
import { PurgeTime } from '../time/purge-time.ts';
import { DeliveredMarks } from './delivered-marks.ts';
import { attempt, type DeliveryVerdict } from './delivery.ts';
import { isFresh, type PreparedDelivery, prepare } from './prepared.ts';
import { pauseBefore, type RetryPolicy } from './retry-policy.ts';
import { Schedule } from './schedule.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly gate: Gate;
  readonly keys: SigningKeys;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Header fields that a receiver asked for, added when a delivery is sent; null where it wants no more. Default: none. */
  readonly headersFor?: (id: string) => Promise<Readonly<Record<string, string>> | null>;
  /** Whether a sender is registered, and so shares a secret with us. */
  readonly isRegistered: (owner: string) => boolean;
  readonly settings?: Partial<OutboxSettings>;
  /** The time by which old data is deleted. Default: the clock. */
  readonly purgeTime?: Pick<PurgeTime, 'now'>;
}

export interface OutboxSettings extends RetryPolicy {
  /** For one try. */
  readonly timeoutMs: number;
  /** Tries at the same time, to one host and to all. */
  readonly perHost: number;
  readonly total: number;
  /** How long what was delivered or given up is kept to look at. */
  readonly keepMs: number;
}

/**
 * The durable queue of callbacks.
 *
 *   due → tried → delivered
 *    ↑       ├→ failed: due again after a pause, until the tries are used up or it expires → dead
 *    │       └→ gone (HTTP 410), or refused for good → dead
 *    └── retry now ── dead
 *
 * Nothing is written down when a try begins: after a crash it is tried again, with the same id and the same bytes. What is
 * dead, delivered or expired is never sent.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #settings: OutboxSettings;
  readonly #schedule: Schedule<Entry>;
  readonly #delivered: DeliveredMarks;
  readonly #entries = new Map<string, Entry>();
  readonly #queued = new Map<string, number>();
  readonly #urls = new KnownUrls();
  /** Receivers that said they are gone, as long as that is being written down. */
  readonly #gone = new Set<string>();
  readonly #tries = new Map<Try, Promise<void>>();
  readonly #stopped = new Ending();
  /** How many were made before their turn. */
  #ahead = 0;
  #stopping = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#settings = { ...DEFAULT_OUTBOX, ...options.settings };
    this.#schedule = new Schedule(this.#settings);
    this.#delivered = new DeliveredMarks(options.store);
    // Everyone who waits for a full disk listens to it.
    setMaxListeners(0, this.#stopped.signal);
  }

  /** Takes up what an earlier process left. */
  async start(): Promise<void> {
    const { store, clock, log, purgeTime = new PurgeTime({ clock, log }) } = this.#options;
    await this.claim();
    const { keepMs } = this.#settings;
    const purge = () => {
      const ended = purgeTime.now() - keepMs;
      // Not before what says so: whoever looks at it can still have it tried again.
      return store.purge({ ended, gone: Math.min(ended, purgeTime.now() - GONE_MS) });
    };
    void everyHour(purge, {
      clock,
      log,
      signal: this.#stopped.signal,
      failed: 'old callbacks could not be forgotten',
    });
  }

  /** Takes up what a process that is gone left. */
  async claim(): Promise<void> {
    const { store } = this.#options;
    for (const due of await claimAll((limit) => store.claim(limit))) this.admit(due);
  }

  /** Others take up what waits here. What is being sent may arrive. */
  letGo(): void {
    const ids = new Set(this.#entries.keys());
    this.#schedule.remove(ids);
    for (const id of ids) this.#forget(this.#entries.get(id));
  }

  /** A delivery that is in the store and due: sends it when its time and turn have come. */
  admit(due: DueDelivery): void {
    if (this.#stopping || this.#entries.has(due.id)) return;
    const { id, owner, requestId, messageId, url, priority, expiresAt, attempts, nextAt, isDamaged = false } = due;
    // It is a URL: the gate judged it before it came here. Whatever the port: a host has tens of thousands.
    const host = this.#urls.read(url)?.hostname ?? '';
    // By name: what is admitted may have its body with it still, and very many may wait.
    const entry: Entry = {
      id,
      owner,
      requestId,
      messageId,
      url,
      priority,
      expiresAt,
      attempts,
      nextAt,
      isDamaged,
      host,
      postponedAt: undefined,
      cancel: undefined,
      ahead: undefined,
      waiting: [],
    };
    this.#entries.set(id, entry);
    this.#queued.set(owner, this.queued(owner) + 1);
    this.#wake(entry);
  }

  /** Resolves when it was delivered or given up; at once when it does not wait here. */
  over(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    return entry === undefined ? Promise.resolve() : new Promise((resolve) => entry.waiting.push(resolve));
  }

  /** How many are being tried. */
  get trying(): number {
    return this.#tries.size;
  }

  /** How many callbacks of this sender wait. */
  queued(owner: string): number {
    return this.#queued.get(owner) ?? 0;
  }

  list(page: Parameters<OutboxStore['list']>[0]): Promise<OutboxPage> {
    return this.#options.store.list(page);
  }

  /**
   * Sends a dead callback once more, with all its tries before it. The receiver's 410, if any, is forgotten with that: then its
   * URL is enabled, also where the callback itself has expired and is never sent.
   */
  async retry(id: string): Promise<{ readonly row: DeliveryRow; readonly isEnabled: boolean }> {
    const { store, clock } = this.#options;
    const found = await store.find(id).catch((error: unknown) => {
      if (!isDamaged(error)) throw error;
      return refuse('conflict', {}, 'It is damaged in the database and cannot be sent.');
    });
    const row = found ?? refuse('not_found', {}, 'Callback not found.');
    const now = clock.now().getTime();
    if (row.state !== 'dead')
      refuse('conflict', {}, `Only a dead callback can be tried again; this one is ${row.state}.`);
    const isEnabled = await store.enable(row.owner, row.url);
    if (row.expiresAt !== null && row.expiresAt <= now) {
      if (!isEnabled) refuse('expired', {}, 'It has expired and is never sent again.');
      return { row, isEnabled };
    }
    if (await store.revive(id, now)) this.admit({ ...row, attempts: 0, nextAt: now });
    return { row: (await store.find(id)) ?? row, isEnabled };
  }

  /** One callback with its body. */
  async show(id: string): Promise<DeliveryRow> {
    return (await this.#options.store.find(id)) ?? refuse('not_found', {}, 'Callback not found.');
  }

  /** Gives up a callback that is due: it is dead, and can be tried again by hand. One that is being sent may still arrive. */
  async giveUp(id: string): Promise<DeliveryRow> {
    const { store, clock } = this.#options;
    const row = await this.show(id);
    if (row.state !== 'due')
      refuse('conflict', {}, `Only a callback that is due can be given up; this one is ${row.state}.`);
    await store.givenUp(id, { at: clock.now().getTime(), reason: GIVEN_UP });
    for (const { entry, ending } of this.#tries.keys()) if (entry.id === id) ending.end(GONE);
    this.#schedule.remove(new Set([id]));
    this.#forget(this.#entries.get(id));
    return this.show(id);
  }

  /** Tries every dead callback to a host again, the newest first. Gives how many, and whether there are more than it looked at. */
  async retryHost(host: string): Promise<{ readonly retried: number; readonly isAll: boolean }> {
    const dead: string[] = [];
    let seen = 0;
    for (; seen < MOST_LOOKED_AT; seen += PAGE) {
      const { rows } = await this.list({ state: 'dead', offset: seen, limit: PAGE });
      for (const { id, url } of rows) if (this.#urls.read(url)?.host === host) dead.push(id);
      if (rows.length < PAGE) break;
    }
    let retried = 0;
    for (const id of dead) {
      // One that has expired, was retried meanwhile or is damaged is left as it is.
      const done = await this.retry(id).catch((error: unknown) => {
        if (failureOf(error) === undefined) throw error;
        return undefined;
      });
      if (done?.row.state === 'due') retried += 1;
    }
    return { retried, isAll: seen < MOST_LOOKED_AT };
  }

  /** Begins no more tries, and lets those that run end for this long. What was not over is tried again at the next start. */
  async stop({ drainMs }: { drainMs: number }): Promise<void> {
    this.#stopping = true;
    for (const entry of this.#entries.values()) entry.cancel?.();
    const end = () => {
      this.#stopped.end(STOPPED);
      for (const { ending } of this.#tries.keys()) ending.end(STOPPED);
    };
    const over = () => Promise.all(this.#tries.values());
    await drained({ clock: this.#options.clock, drainMs, over, end });
    end();
  }

  /** Puts it in line, now or when its pause is over. */
  #wake(entry: Entry): void {
    const { clock } = this.#options;
    // However far the wall clock was set back in between.
    const pause = Math.min(entry.nextAt - clock.now().getTime(), this.#settings.longestMs);
    if (pause <= 0) {
      this.#schedule.add(entry);
      this.#dispatch();
      return;
    }
    // One that expires while it waits is given up then, not later.
    const left = entry.expiresAt === null ? pause : Math.min(pause, entry.expiresAt - clock.now().getTime());
    entry.cancel = clock.after(Math.max(0, left), () => {
      entry.cancel = undefined;
      this.#schedule.add(entry);
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (!this.#stopping) {
      const entry = this.#schedule.next();
      if (entry === undefined) return;
      const one: Try = { entry, ending: new Ending() };
      this.#tries.set(one, this.#try(one));
      this.#prepareAhead(this.#schedule.following(entry.host));
    }
  }

  /** Where many wait for one host, the next are read and signed while those before them are sent. */
  #prepareAhead(entries: readonly Entry[]): void {
    // Several at a time: what is asked of a thread in one turn goes in one message, and each costs as much as all else about one.
    if (entries[0]?.ahead !== undefined) return;
    for (const entry of entries) {
      if (entry.ahead !== undefined || this.#ahead >= this.#settings.total) continue;
      this.#ahead += 1;
      // What fails ahead is done again when it is wanted; what is long is not kept till then.
      entry.ahead = this.#prepare(entry, { isAhead: true }).then(
        (prepared) => (prepared !== undefined && prepared.body.length <= SHORT ? prepared : undefined),
        () => undefined,
      );
    }
  }

  async #prepared(entry: Entry): Promise<PreparedDelivery | undefined> {
    const prepared = await this.#takeAhead(entry);
    if (prepared !== undefined && isFresh(prepared, this.#options.clock)) return prepared;
    return this.#prepare(entry, { isAhead: false });
  }

  #takeAhead(entry: Entry): Promise<PreparedDelivery | undefined> | undefined {
    const { ahead } = entry;
    if (ahead !== undefined) this.#ahead -= 1;
    entry.ahead = undefined;
    return ahead;
  }

  #prepare(due: DueDelivery, { isAhead }: { readonly isAhead: boolean }): Promise<PreparedDelivery | undefined> {
    const agentId = this.#options.isRegistered(due.owner) ? due.owner : undefined;
    return prepare({ due, agentId, isAhead }, this.#options);
  }

  async #try(one: Try): Promise<void> {
    const { entry } = one;
    const { log } = this.#options;
    let answered: boolean | undefined;
    let hasLeft = false;
    const leave = () => {
      if (!hasLeft) this.#schedule.leave(entry.host, { answered });
      hasLeft = true;
    };
    try {
      const verdict = await this.#send(one);
      if (verdict !== undefined) {
        answered = verdict.answered;
        if (verdict.outcome === 'delivered') {
          // The receiver is done with it, and can have the next one while this is written down.
          leave();
          this.#dispatch();
        }
        await this.#record(entry, verdict);
      }
    } catch (error) {
      if (this.#stopped.aborted) return;
      // The store cannot be read or written: the callback stays due, and is tried again when it can.
      log.warn({ delivery: entry.id, error: String(error) }, 'a callback could not be dealt with');
      entry.nextAt = this.#options.clock.now().getTime() + STORE_PAUSE_MS;
      this.#wake(entry);
    } finally {
      this.#tries.delete(one);
      leave();
      this.#schedule.release();
      this.#dispatch();
    }
  }

  /** What came of a try; `undefined` where there is nothing to try any more. */
  async #send(one: Try): Promise<DeliveryVerdict | undefined> {
    const { entry } = one;
    const { clock, log } = this.#options;
    try {
      if (entry.isDamaged) throw new StoreError('store_damaged', `What is known of delivery ${entry.id} is damaged.`);
      const prepared = await this.#prepared(entry);
      if (prepared === undefined) this.#forget(entry);
      // It is dead with all others to this receiver, as soon as that is written down.
      if (prepared === undefined || this.#isGone(entry)) return undefined;
      const more = await this.#options.headersFor?.(entry.id);
      if (more === null) {
        return { outcome: 'given-up', answered: undefined, failure: { at: clock.now().getTime(), reason: UNWANTED } };
      }
      return await this.#attempt(one, { ...prepared, headers: { ...more, ...prepared.headers } });
    } catch (error) {
      if (!isDamaged(error)) throw error;
      // It will be no better the next time.
      log.warn({ delivery: entry.id, error: String(error) }, 'a callback is damaged');
      return { outcome: 'given-up', answered: undefined, failure: { at: clock.now().getTime(), reason: DAMAGED } };
    }
  }

  /** Ends, with `undefined`, when another try hears that the receiver is gone: this one may still be on its way there. */
  async #attempt({ entry: due, ending }: Try, prepared: PreparedDelivery): Promise<DeliveryVerdict | undefined> {
    const { timeoutMs } = this.#settings;
    try {
      return await attempt({ due, prepared, timeoutMs, signal: ending }, this.#options);
    } catch (error) {
      if (ending.reason !== GONE) throw error;
      return undefined;
    }
  }

  async #record(entry: Entry, verdict: DeliveryVerdict): Promise<void> {
    const { store, clock, log } = this.#options;
    const told = { delivery: entry.id, host: this.#urls.read(entry.url)?.host, request_id: entry.requestId };
    if (verdict.outcome === 'delivered') {
      await this.#insist(() => this.#delivered.add(entry.id, clock.now().getTime()));
      this.#forget(entry);
      log.debug(told, 'a callback was delivered');
      return;
    }
    const { failure } = verdict;
    if (verdict.outcome === 'given-up') {
      // Where the row cannot even be written it is left as it is: the next start comes to the same end.
      await this.#insist(() => store.givenUp(entry.id, failure).catch(unlessDamaged));
      this.#forget(entry);
      log.info({ ...told, reason: failure.reason }, 'a callback was not sent');
      return;
    }
    if (verdict.outcome === 'postponed' && this.#postpone(entry)) {
      log.debug({ ...told, reason: failure.reason }, 'a callback waits for its next turn');
      return;
    }
    log.info({ ...told, reason: failure.reason, attempt: entry.attempts + 1 }, 'a callback was not delivered');
    // Another try to the same URL may have heard in the meantime that it is gone. Then this one counts no more, nor towards the
    // tries of one that somebody has since asked for.
    const current = this.#entries.get(entry.id);
    if (verdict.outcome === 'gone' && current !== undefined) return this.#recordGone(entry, failure);
    if (verdict.outcome === 'gone' || current !== entry) return;
    entry.attempts += 1;
    entry.postponedAt = undefined;
    const nextAt = this.#nextTry(entry, verdict);
    await this.#insist(() => store.failed(entry.id, failure, nextAt));
    if (nextAt === null) log.warn({ ...told, attempts: entry.attempts }, 'a callback was given up: a dead letter');
    if (nextAt === null || this.#entries.get(entry.id) !== entry) this.#forget(entry);
    else {
      entry.nextAt = nextAt;
      this.#wake(entry);
    }
  }

  /** From the moment it is heard, nothing is sent there for this sender: to write it down can take as long as a disk is full. */
  async #recordGone(entry: Entry, failure: DeliveryFailure): Promise<void> {
    const receiver = receiverOf(entry);
    this.#gone.add(receiver);
    for (const other of this.#tries.keys()) if (receiverOf(other.entry) === receiver) other.ending.end(GONE);
    const ids = await this.#insist(() => this.#options.store.gone(entry.id, failure));
    this.#gone.delete(receiver);
    this.#schedule.remove(new Set(ids));
    for (const id of ids) this.#forget(this.#entries.get(id));
  }

  #isGone(entry: Entry): boolean {
    return this.#gone.size > 0 && this.#gone.has(receiverOf(entry));
  }

  /** Puts it in line again, as if it had not been its turn; not for ever, so that nothing waits without end. */
  #postpone(entry: Entry): boolean {
    const { clock } = this.#options;
    const { backoffMs, longestMs } = this.#settings;
    entry.postponedAt ??= clock.elapsed();
    if (clock.elapsed() - entry.postponedAt >= longestMs) return false;
    entry.nextAt = clock.now().getTime() + backoffMs;
    // Another try to the same URL may have heard in the meantime that it is gone.
    if (this.#entries.get(entry.id) === entry) this.#wake(entry);
    return true;
  }

  #nextTry(
    { attempts, expiresAt }: Entry,
    verdict: Extract<DeliveryVerdict, { outcome: 'failed' | 'postponed' }>,
  ): number | null {
    const { clock, ids } = this.#options;
    const random = Number.parseInt(ids.hex().slice(0, 8), 16) / 2 ** 32;
    const { retry, retryAfterMs } = verdict.outcome === 'failed' ? verdict : { retry: true, retryAfterMs: undefined };
    const pause = pauseBefore(this.#settings, {
      failed: attempts,
      random,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    if (!retry || pause === undefined) return null;
    const nextAt = clock.now().getTime() + pause;
    return expiresAt !== null && nextAt >= expiresAt ? null : nextAt;
  }

  /** What is known of a try must not be forgotten because the disk is full for a moment: it would be sent again. */
  #insist<Result>(write: () => Promise<Result>): Promise<Result> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopped;
    return patiently(write, { clock, log, signal, what: 'what came of a callback', isRepeatable: true });
  }

  #forget(entry: Entry | undefined): void {
    // One that was tried again by hand may have its place.
    if (entry === undefined || this.#entries.get(entry.id) !== entry) return;
    this.#entries.delete(entry.id);
    entry.cancel?.();
    entry.cancel = undefined;
    void this.#takeAhead(entry);
    const left = this.queued(entry.owner) - 1;
    if (left > 0) this.#queued.set(entry.owner, left);
    else this.#queued.delete(entry.owner);
    for (const resolve of entry.waiting) resolve();
  }
}

/** A due delivery, in memory without its body. */
interface Entry extends DueDelivery {
  readonly isDamaged: boolean;
  readonly host: string;
  attempts: number;
  nextAt: number;
  /** By elapsed time: since when its tries come to nothing that the host has a part in. */
  postponedAt: number | undefined;
  /** Ends the pause it is in. */
  cancel: (() => void) | undefined;
  /** What will be sent of it, made before its turn. */
  ahead: Promise<PreparedDelivery | undefined> | undefined;
  /** To be called when it is over. */
  readonly waiting: (() => void)[];
}

/** One try, and what ends it before it is over. */
interface Try {
  readonly entry: Entry;
  readonly ending: Ending;
}

function receiverOf({ owner, url }: Entry): string {
  return `${owner}\0${url}`;
}

function isDamaged(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'store_damaged';
}

function unlessDamaged(error: unknown): void {
  if (!isDamaged(error)) throw error;
}

const DEFAULT_OUTBOX: OutboxSettings = {
  timeoutMs: 10_000,
  retries: 3,
  backoffMs: 1000,
  longestMs: ONE_HOUR,
  perHost: 4,
  total: 256,
  keepMs: 7 * 24 * ONE_HOUR,
};

/** How long a receiver's 410 holds, at least. */
const GONE_MS = 30 * 24 * ONE_HOUR;
const STORE_PAUSE_MS = 1000;
/** Characters of a body that is kept in memory until its turn. */
const SHORT = 65_536;
/** Why a delivery is dead that an operator gave up. */
const GIVEN_UP = 'it was given up by an operator';
const PAGE = 200;
const MOST_LOOKED_AT = 10_000;
/** Why a delivery is dead that cannot be read. */
const DAMAGED = 'it is damaged in the database: what would be sent is not what was written';
/** Why a delivery is dead whose receiver was taken back. */
const UNWANTED = 'its push notification config was deleted';
const GONE = new Error('the receiver is gone');
const STOPPED = new Error('the outbox stops');

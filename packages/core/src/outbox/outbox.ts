import { setMaxListeners } from 'node:events';
import { drained } from '../ending/drained.ts';
import { Ending } from '../ending/ending.ts';
import type { Gate } from '../gate/gate.ts';
import { KnownUrls } from '../gate/known-urls.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { claimAll } from '../store/held.ts';
import { patiently } from '../store/patiently.ts';
import type { DeliveryFailure, DueDelivery, OutboxStore } from '../store/store.ts';
import { isDamaged, StoreError } from '../store/store-error.ts';
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
  /** Header fields that the receiver has configured for a delivery, or why it cannot be sent. Default: none. */
  readonly headersFor?: (id: string) => Promise<Readonly<Record<string, string>> | string>;
  /** Whether the sender is a registered agent, with which we share a secret. */
  readonly isRegistered: (owner: string) => boolean;
  readonly settings?: Partial<OutboxSettings>;
  /** The time for deleting old data. Default: `clock`. */
  readonly purgeTime?: Pick<PurgeTime, 'now'>;
}

export interface OutboxSettings extends RetryPolicy {
  /** The time limit of one try. */
  readonly timeoutMs: number;
  /** How many tries run at the same time, to one host (`perHost`) and to all hosts (`total`). */
  readonly perHost: number;
  readonly total: number;
  /** How long delivered and dead callbacks are kept. */
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
 * Nothing is recorded when a try begins: after a crash the callback is tried again, with the same id and the same bytes. A
 * dead, delivered or expired callback is never sent.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #settings: OutboxSettings;
  readonly #schedule: Schedule<Entry>;
  readonly #delivered: DeliveredMarks;
  readonly #entries = new Map<string, Entry>();
  readonly #queued = new Map<string, number>();
  readonly #urls = new KnownUrls();
  /** Receivers that answered 410 Gone, until that is recorded. */
  readonly #gone = new Set<string>();
  readonly #tries = new Map<Try, Promise<void>>();
  readonly #stopped = new Ending();
  /** How many callbacks are prepared before their turn. */
  #ahead = 0;
  #stopping = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#settings = { ...DEFAULT_OUTBOX, ...options.settings };
    this.#schedule = new Schedule(this.#settings);
    this.#delivered = new DeliveredMarks(options.store);
    // Every write that waits while the disk is full listens to this signal.
    setMaxListeners(0, this.#stopped.signal);
  }

  /** Continues the callbacks of an earlier process. */
  async start(): Promise<void> {
    const { store, clock, log, purgeTime = new PurgeTime({ clock, log }) } = this.#options;
    await this.claim();
    const { keepMs } = this.#settings;
    const purge = () => {
      const ended = purgeTime.now() - keepMs;
      // The 410 is kept at least as long as its callbacks: an operator can still retry them.
      return store.purge({ ended, gone: Math.min(ended, purgeTime.now() - GONE_MS) });
    };
    void everyHour(purge, {
      clock,
      log,
      signal: this.#stopped.signal,
      failed: 'old callbacks could not be forgotten',
    });
  }

  /** Takes over the callbacks of a process that has ended. */
  async claim(): Promise<void> {
    const { store, clock, log } = this.#options;
    const patience = { clock, log, signal: this.#stopped.signal };
    for await (const claimed of claimAll((limit) => store.claim(limit), patience)) {
      for (const due of claimed) this.admit(due);
    }
  }

  /** Forgets all callbacks: other processes may take them over. If one is being sent, it may still arrive. */
  letGo(): void {
    const ids = new Set(this.#entries.keys());
    this.#schedule.remove(ids);
    for (const id of ids) this.#forget(this.#entries.get(id));
  }

  /** Queues a delivery that is due in the store: it is sent at its time, when it is its turn. */
  admit(due: DueDelivery): void {
    if (this.#stopping || this.#entries.has(due.id)) return;
    const { id, owner, requestId, messageId, url, priority, expiresAt, attempts, nextAt, isDamaged = false } = due;
    // The gate has checked the URL before. The port is ignored: a host has tens of thousands.
    const host = this.#urls.read(url)?.hostname ?? '';
    // Copied by name, so that waiting entries do not keep their bodies in memory.
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

  /** Resolves when the callback is delivered or given up; at once when it is not waiting here. */
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

  /** Forgets a callback that was given up, and ends the try that is under way. */
  abandon(id: string): void {
    for (const { entry, ending } of this.#tries.keys()) if (entry.id === id) ending.end(GONE);
    this.#schedule.remove(new Set([id]));
    this.#forget(this.#entries.get(id));
  }

  /** Starts no further attempts, and waits this long for running ones. Unfinished attempts are repeated at the next start. */
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

  /** Queues a callback, now or after its pause. */
  #wake(entry: Entry): void {
    // It may have been released, abandoned or replaced during its try.
    if (this.#entries.get(entry.id) !== entry) return;
    const { clock } = this.#options;
    // Bounded, because the wall clock may have been set back.
    const pause = Math.min(entry.nextAt - clock.now().getTime(), this.#settings.longestMs);
    if (pause <= 0) {
      this.#schedule.add(entry);
      this.#dispatch();
      return;
    }
    // A callback that expires during its pause is given up at that time.
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

  /** Reads and signs the next callbacks of a host while the ones before them are sent. */
  #prepareAhead(entries: readonly Entry[]): void {
    // Prepares several in one turn, so that they share one message to the signing thread.
    if (entries[0]?.ahead !== undefined) return;
    for (const entry of entries) {
      if (entry.ahead !== undefined || this.#ahead >= this.#settings.total) continue;
      this.#ahead += 1;
      // After a failure, or if its body is long, the callback is prepared again when its turn comes.
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
          // The receiver can get the next callback while this one is recorded.
          leave();
          this.#dispatch();
        }
        await this.#record(entry, verdict);
      }
    } catch (error) {
      if (this.#stopped.aborted) return;
      // The store cannot be read or written: the callback stays due, and is tried again when it can.
      log.warn({ delivery: entry.id, error: String(error) }, 'a callback could not be processed');
      entry.nextAt = this.#options.clock.now().getTime() + STORE_PAUSE_MS;
      this.#wake(entry);
    } finally {
      this.#tries.delete(one);
      leave();
      this.#schedule.release();
      this.#dispatch();
    }
  }

  /** Sends a callback once. Returns `undefined` when it is not to be sent any more. */
  async #send(one: Try): Promise<DeliveryVerdict | undefined> {
    const { entry } = one;
    const { clock, log } = this.#options;
    try {
      if (entry.isDamaged) throw new StoreError('store_damaged', `The record of delivery ${entry.id} is damaged.`);
      const prepared = await this.#prepared(entry);
      if (prepared === undefined) this.#forget(entry);
      // A callback to a gone receiver becomes dead as soon as the 410 is recorded.
      if (prepared === undefined || this.#isGone(entry)) return undefined;
      const more = await this.#options.headersFor?.(entry.id);
      if (typeof more === 'string') {
        return { outcome: 'given-up', answered: undefined, failure: { at: clock.now().getTime(), reason: more } };
      }
      return await this.#attempt(one, { ...prepared, headers: { ...more, ...prepared.headers } });
    } catch (error) {
      if (!isDamaged(error)) throw error;
      // A retry would find the same damage.
      log.warn({ delivery: entry.id, error: String(error) }, 'a callback is damaged');
      return { outcome: 'given-up', answered: undefined, failure: { at: clock.now().getTime(), reason: DAMAGED } };
    }
  }

  /** Returns `undefined` if another attempt receives 410 Gone; this one may still arrive. */
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
    const fields = { delivery: entry.id, host: this.#urls.read(entry.url)?.host, request_id: entry.requestId };
    if (verdict.outcome === 'delivered') {
      await this.#insist(() => this.#delivered.add(entry.id, clock.now().getTime()));
      this.#forget(entry);
      log.debug(fields, 'a callback was delivered');
      return;
    }
    const { failure } = verdict;
    if (verdict.outcome === 'given-up') {
      // A damaged row that cannot be written stays due; the next start gives it up again.
      await this.#insist(() => store.givenUp(entry.id, failure).catch(unlessDamaged));
      this.#forget(entry);
      log.info({ ...fields, reason: failure.reason }, 'a callback was not sent');
      return;
    }
    if (verdict.outcome === 'postponed' && this.#postpone(entry)) {
      log.debug({ ...fields, reason: failure.reason }, 'a callback waits for its next attempt');
      return;
    }
    log.info({ ...fields, reason: failure.reason, attempt: entry.attempts + 1 }, 'a callback was not delivered');
    // Another attempt may have received 410 Gone in the meantime. Then this one no longer counts, even if an operator
    // has queued the callback again since.
    const current = this.#entries.get(entry.id);
    if (verdict.outcome === 'gone' && current !== undefined) return this.#recordGone(entry, failure);
    if (verdict.outcome === 'gone' || current !== entry) return;
    entry.attempts += 1;
    entry.postponedAt = undefined;
    const nextAt = this.#nextTry(entry, verdict);
    await this.#insist(() => store.failed(entry.id, failure, nextAt));
    if (nextAt === null) log.warn({ ...fields, attempts: entry.attempts }, 'a callback was given up: a dead letter');
    if (nextAt === null || this.#entries.get(entry.id) !== entry) this.#forget(entry);
    else {
      entry.nextAt = nextAt;
      this.#wake(entry);
    }
  }

  /** Blocks the receiver for this sender at once, because recording the 410 may have to wait while the disk is full. */
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

  /** Queues a callback again without counting a try. False when it was postponed for too long. */
  #postpone(entry: Entry): boolean {
    const { clock } = this.#options;
    const { backoffMs, longestMs } = this.#settings;
    entry.postponedAt ??= clock.elapsed();
    if (clock.elapsed() - entry.postponedAt >= longestMs) return false;
    entry.nextAt = clock.now().getTime() + backoffMs;
    this.#wake(entry);
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

  /** Retries while the disk is full: a callback whose result is lost would be sent again. */
  #insist<Result>(write: () => Promise<Result>): Promise<Result> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopped;
    return patiently(write, { clock, log, signal, what: 'the result of a callback', isRepeatable: true });
  }

  #forget(entry: Entry | undefined): void {
    // A retry may have replaced it under the same id.
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
  /** The elapsed time since which it is postponed, because its host name is not looked up in time. */
  postponedAt: number | undefined;
  /** Cancels its pause. */
  cancel: (() => void) | undefined;
  /** Its body and headers, prepared before its turn. */
  ahead: Promise<PreparedDelivery | undefined> | undefined;
  /** Called when the callback is delivered or given up. */
  readonly waiting: (() => void)[];
}

/** One try. `ending` can stop it early. */
interface Try {
  readonly entry: Entry;
  readonly ending: Ending;
}

function receiverOf({ owner, url }: Entry): string {
  return `${owner}\0${url}`;
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

/** How long a receiver's 410 counts, at least. */
const GONE_MS = 30 * 24 * ONE_HOUR;
const STORE_PAUSE_MS = 1000;
/** Characters of a body that is kept in memory until its turn. */
const SHORT = 65_536;
/** The recorded reason of a delivery that cannot be read. */
const DAMAGED = 'it is damaged in the database: its content has changed since it was stored';
const GONE = new Error('the receiver is gone');
const STOPPED = new Error('the outbox stops');

import { KnownUrls } from '../gate/known-urls.ts';
import type { Clock } from '../ports/ports.ts';
import { failureOf, refuse } from '../refusals/refused.ts';
import type { DeliveryRow, OutboxPage, OutboxQuery, OutboxStore } from '../store/store.ts';
import { isDamaged } from '../store/store-error.ts';
import type { Outbox } from './outbox.ts';

interface OutboxOperatorOptions {
  readonly outbox: Pick<Outbox, 'admit' | 'abandon'>;
  readonly store: OutboxStore;
  readonly clock: Clock;
}

/** What an operator can do with callbacks: look at them, retry dead ones, and give up those that are due. */
export class OutboxOperator {
  readonly #outbox: OutboxOperatorOptions['outbox'];
  readonly #store: OutboxStore;
  readonly #clock: Clock;
  readonly #urls = new KnownUrls();

  constructor({ outbox, store, clock }: OutboxOperatorOptions) {
    this.#outbox = outbox;
    this.#store = store;
    this.#clock = clock;
  }

  list(query: OutboxQuery): Promise<OutboxPage> {
    return this.#store.list(query);
  }

  /** One callback with its body. */
  async show(id: string): Promise<DeliveryRow> {
    return (await this.#store.find(id)) ?? refuse('not_found', {}, 'Callback not found.');
  }

  /**
   * Queues a dead callback again, with the full number of tries. This also clears a 410 of the receiver: its URL is
   * enabled even if the callback itself has expired and is not sent.
   */
  async retry(id: string): Promise<{ readonly row: DeliveryRow; readonly isEnabled: boolean }> {
    const row = await this.show(id).catch((error: unknown) => {
      if (!isDamaged(error)) throw error;
      return refuse('conflict', {}, 'The callback is damaged in the database and cannot be sent.');
    });
    const now = this.#clock.now().getTime();
    if (row.state !== 'dead') {
      refuse('conflict', {}, `Only a dead callback can be tried again; this one is ${row.state}.`);
    }
    const isEnabled = await this.#store.enable(row.owner, row.url);
    if (row.expiresAt !== null && row.expiresAt <= now) {
      if (!isEnabled) refuse('expired', {}, 'The callback has expired and is never sent again.');
      return { row, isEnabled };
    }
    if (await this.#store.revive(id, now)) this.#outbox.admit({ ...row, attempts: 0, nextAt: now });
    return { row: (await this.#store.find(id)) ?? row, isEnabled };
  }

  /** Retries the dead callbacks to a host, newest first. `isAll` is false if there were too many to look at. */
  async retryHost(host: string): Promise<{ readonly retried: number; readonly isAll: boolean }> {
    const dead: string[] = [];
    let after: number | undefined;
    let seen = 0;
    do {
      const { rows, next } = await this.list({ state: 'dead', after, limit: PAGE });
      for (const { id, url } of rows) if (this.#urls.read(url)?.host === host) dead.push(id);
      after = next;
      seen += rows.length;
    } while (after !== undefined && seen < MOST_LOOKED_AT);
    let retried = 0;
    for (const id of dead) {
      // A callback that has expired, was retried meanwhile or is damaged is skipped.
      const done = await this.retry(id).catch((error: unknown) => {
        if (failureOf(error) === undefined) throw error;
        return undefined;
      });
      if (done?.row.state === 'due') retried += 1;
    }
    return { retried, isAll: after === undefined };
  }

  /** Gives up a due callback: it is dead until an operator retries it. If it is being sent, it may still arrive. */
  async giveUp(id: string): Promise<DeliveryRow> {
    const row = await this.show(id);
    if (row.state !== 'due') {
      refuse('conflict', {}, `Only a callback that is due can be given up; this one is ${row.state}.`);
    }
    await this.#store.givenUp(id, { at: this.#clock.now().getTime(), reason: GIVEN_UP });
    this.#outbox.abandon(id);
    return this.show(id);
  }
}

const GIVEN_UP = 'it was given up by an operator';
const PAGE = 200;
const MOST_LOOKED_AT = 10_000;

import type { RequestKey } from './store.ts';

/**
 * due → delivered, or due → dead. A delivery stays due during an attempt, because a crash in the middle of it must
 * result in another attempt.
 */
export type DeliveryState = 'due' | 'delivered' | 'dead';

/** A callback as it is put into the outbox. */
export interface NewDelivery {
  readonly id: string;
  /** The principal on whose behalf it is sent. */
  readonly owner: string;
  /** The request it answers. */
  readonly requestId: string;
  /** The id in the body: the same at every attempt, so that the receiver recognizes a repeat. */
  readonly messageId: string;
  readonly url: string;
  /** The bytes that are sent, as text. */
  readonly body: string;
  /** Lower is sent first. */
  readonly priority: number;
  /** Epoch milliseconds. Nothing is sent after it; null: no limit. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface DeliveryRow extends NewDelivery {
  readonly state: DeliveryState;
  /** Finished attempts. */
  readonly attempts: number;
  /** Epoch milliseconds at which the next attempt may start. */
  readonly nextAt: number;
  /** Why each attempt failed, oldest first. */
  readonly failures: readonly DeliveryFailure[];
  /** When it was delivered or given up. */
  readonly endedAt: number | null;
}

/** A delivery without its body, which can be long and is needed only for sending. */
export type DeliverySummary = Omit<DeliveryRow, 'body'>;

/** A delivery to show. `body` is null if it is damaged. */
export type ShownDelivery = DeliverySummary & { readonly body: string | null };

/** A waiting delivery in memory. Its body is read only when it is sent. */
export interface DueDelivery extends Omit<DeliveryRow, 'body' | 'createdAt' | 'state' | 'failures' | 'endedAt'> {
  /** Whether the row is damaged. It must not be sent, because the damage may be in its URL. */
  readonly isDamaged?: boolean;
}

export interface DeliveryFailure {
  readonly at: number;
  readonly reason: string;
  /** The HTTP status, when there was an answer. */
  readonly status?: number;
}

/** Which deliveries to list, newest first. */
export interface OutboxQuery {
  readonly state?: DeliveryState | undefined;
  /** `next` of the previous page. The delivery with this number may be gone by now. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface OutboxPage {
  readonly rows: readonly DeliverySummary[];
  /** The number of deliveries in this state, on all pages. */
  readonly total: number;
  /** The number that the next page begins after; absent on the last one. */
  readonly next?: number;
}

export interface OutboxStore {
  /** Adds a delivery, unless its id exists. It is dead from the start if its URL is disabled for its owner. */
  add(delivery: NewDelivery): Promise<void>;
  find(id: string): Promise<DeliveryRow | undefined>;
  /** The body to send; `undefined` when the delivery is not due. */
  dueBody(id: string): Promise<string | undefined>;
  /** The callbacks of a request, in the order they were added. */
  answering(key: RequestKey): Promise<ShownDelivery[]>;
  /** Takes over at most `limit` due deliveries whose process is gone, in the order they were added. */
  claim(limit: number): Promise<DueDelivery[]>;
  /** Marks the due ones among these deliveries as delivered, in one commit. */
  delivered(ids: readonly string[], at: number): Promise<void>;
  /** Records a failed attempt. The next one is at `nextAt`; null: the delivery is dead. */
  failed(id: string, failure: DeliveryFailure, nextAt: number | null): Promise<void>;
  /** Marks a delivery as dead without another attempt. */
  givenUp(id: string, failure: DeliveryFailure): Promise<void>;
  /**
   * Records that the receiver is gone (HTTP 410). This delivery and all other ones of its owner to its URL are dead,
   * and so are all later ones. Returns the ids.
   */
  gone(id: string, failure: DeliveryFailure): Promise<string[]>;
  isDisabled(owner: string, url: string): Promise<boolean>;
  /** Enables the URL again. False when it was not disabled. */
  enable(owner: string, url: string): Promise<boolean>;
  /**
   * Dead → due. The record of earlier attempts is kept, and the URL is enabled again. False when the delivery is not
   * dead.
   */
  revive(id: string, at: number): Promise<boolean>;
  /** Newest first. */
  list(query: OutboxQuery): Promise<OutboxPage>;
  /** Deletes deliveries that ended, and marks of gone receivers that were set, before these times. Returns how many. */
  purge(before: { readonly ended: number; readonly gone: number }): Promise<number>;
  /** The salt of an agent's signing secret. `fresh` becomes the salt of an agent without one. */
  salt(agentId: string, fresh: string): Promise<string>;
  /** Deletes the salt: the next agent with this id gets another secret. */
  forgetSalt(agentId: string): Promise<void>;
}

/** The recorded reason of a delivery that is dead from the start. */
export const DISABLED = 'the receiver has answered 410 Gone to this sender before';

/** How many failures a delivery keeps: more than one cycle has, so that some from before a "retry now" stay. */
export const MAX_FAILURES = 20;

import type { RequestKey } from './store.ts';

/**
 * due → delivered, or due → dead. A delivery stays due during an attempt: whether it arrived is known only afterwards,
 * and a crash in between must lead to another attempt.
 */
export type DeliveryState = 'due' | 'delivered' | 'dead';

/** A callback as it is put into the outbox. */
export interface NewDelivery {
  readonly id: string;
  /** On whose behalf it is sent. */
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
  /** Epoch milliseconds; after it nothing is sent. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface DeliveryRow extends NewDelivery {
  readonly state: DeliveryState;
  /** Finished attempts. */
  readonly attempts: number;
  /** When the next attempt may start. */
  readonly nextAt: number;
  /** Why each attempt failed, oldest first. */
  readonly failures: readonly DeliveryFailure[];
  /** When it was delivered or given up. */
  readonly endedAt: number | null;
}

/** A delivery without its body, which can be long and is needed only for sending. */
export type DeliverySummary = Omit<DeliveryRow, 'body'>;

/** A whole delivery; `null` in place of a damaged body. */
export type ShownDelivery = DeliverySummary & { readonly body: string | null };

/** The data of a waiting delivery; the body is read when it is sent. */
export interface DueDelivery extends Omit<DeliveryRow, 'body' | 'createdAt' | 'state' | 'failures' | 'endedAt'> {
  /** It is damaged, and must not be used: the damage may be in its URL. */
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
  /** Those that come after this number, which may be gone by now. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface OutboxPage {
  readonly rows: readonly DeliverySummary[];
  /** How many there are in this state, on all pages. */
  readonly total: number;
  /** The number that the next page begins after; absent on the last one. */
  readonly next?: number;
}

export interface OutboxStore {
  /** Adds it, unless its id exists already or its owner's URL is disabled: then it is dead from the start. */
  add(delivery: NewDelivery): Promise<void>;
  find(id: string): Promise<DeliveryRow | undefined>;
  /** The delivery to send; `undefined` when it is not due. */
  dueBody(id: string): Promise<string | undefined>;
  /** The callbacks of a request, in the order they were added. */
  answering(key: RequestKey): Promise<ShownDelivery[]>;
  /** Takes over at most `limit` due deliveries whose process is gone, in the order they were added. */
  claim(limit: number): Promise<DueDelivery[]>;
  /** Marks those that are due as delivered, in one commit; others are left as they are. */
  delivered(ids: readonly string[], at: number): Promise<void>;
  /** An attempt failed: the next one is at `nextAt`; it is dead when that is null. */
  failed(id: string, failure: DeliveryFailure, nextAt: number | null): Promise<void>;
  /** It is dead without another attempt. */
  givenUp(id: string, failure: DeliveryFailure): Promise<void>;
  /**
   * The receiver reported that it is gone (HTTP 410): the delivery and every other one of this owner to this URL is dead, and
   * so is every later one. Returns the ids.
   */
  gone(id: string, failure: DeliveryFailure): Promise<string[]>;
  isDisabled(owner: string, url: string): Promise<boolean>;
  /** Enables the URL again. False when it was not disabled. */
  enable(owner: string, url: string): Promise<boolean>;
  /** Dead → due, and keeps its earlier attempts; its URL is enabled again. False when it is not dead. */
  revive(id: string, at: number): Promise<boolean>;
  /** Newest first. */
  list(query: OutboxQuery): Promise<OutboxPage>;
  /** Deletes deliveries that ended before then, and reports of gone receivers from before then. Returns how many. */
  purge(before: { readonly ended: number; readonly gone: number }): Promise<number>;
  /** The salt of an agent's signing secret; the one given is kept when there is none. */
  salt(agentId: string, fresh: string): Promise<string>;
  /** Deletes the salt: the next agent with this id gets another secret. */
  forgetSalt(agentId: string): Promise<void>;
}

/** Why a delivery is dead without any attempt. */
export const DISABLED = 'the receiver has answered 410 Gone to this sender before';

/** More than the attempts of one cycle; failures from before a "retry now" are kept as long as there is room. */
export const MAX_FAILURES = 20;

import type { RequestKey } from './store.ts';

/**
 * due → delivered, or due → dead. A delivery that is being tried is still due: whether the try arrived is known only when
 * it is over, and a crash in between must lead to another.
 */
export type DeliveryState = 'due' | 'delivered' | 'dead';

/** A callback as it is put into the outbox. */
export interface NewDelivery {
  readonly id: string;
  /** On whose behalf it is sent. */
  readonly owner: string;
  /** The request it answers. */
  readonly requestId: string;
  /** Of the body: the same at every try, so that the receiver can tell a repeat. */
  readonly messageId: string;
  readonly url: string;
  /** The bytes that are sent, as text. */
  readonly body: string;
  /** Lower goes first. */
  readonly priority: number;
  /** Epoch milliseconds; after it nothing is sent. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface DeliveryRow extends NewDelivery {
  readonly state: DeliveryState;
  /** Tries that are over. */
  readonly attempts: number;
  /** When it may be tried next. */
  readonly nextAt: number;
  /** Why each try failed, oldest first. */
  readonly failures: readonly DeliveryFailure[];
  /** When it was delivered or given up. */
  readonly endedAt: number | null;
}

/** A delivery as far as it is told of: bodies can be long, and only who sends one wants it. */
export type ToldDelivery = Omit<DeliveryRow, 'body'>;

/** A whole delivery; `null` in place of a damaged body. */
export type ShownDelivery = ToldDelivery & { readonly body: string | null };

/** All of a delivery that is known while it waits; the body is read when it is sent. */
export interface DueDelivery extends Omit<DeliveryRow, 'body' | 'createdAt' | 'state' | 'failures' | 'endedAt'> {
  /** Something of it is not what was written, and must not be gone by: it might be where it goes. */
  readonly isDamaged?: boolean;
}

export interface DeliveryFailure {
  readonly at: number;
  readonly reason: string;
  /** The HTTP status, when there was an answer. */
  readonly status?: number;
}

export interface OutboxPage {
  readonly rows: readonly ToldDelivery[];
  readonly total: number;
}

export interface OutboxStore {
  /** Puts it in, unless its id is there already or its owner's URL is disabled: then it is dead from the start. */
  add(delivery: NewDelivery): Promise<void>;
  find(id: string): Promise<DeliveryRow | undefined>;
  /** What to send; nothing when it is not due, or not any more. */
  dueBody(id: string): Promise<string | undefined>;
  /** The callbacks a request has led to, in the order they came. */
  answering(key: RequestKey): Promise<ShownDelivery[]>;
  /** Takes over at most `limit` due deliveries whose process is gone, in the order they came. */
  claim(limit: number): Promise<DueDelivery[]>;
  /** All of them that are due, in one commit; what is not is left as it is. */
  delivered(ids: readonly string[], at: number): Promise<void>;
  /** A try failed: it is tried again at `nextAt`, or dead when that is null. */
  failed(id: string, failure: DeliveryFailure, nextAt: number | null): Promise<void>;
  /** It is dead without another try. */
  givenUp(id: string, failure: DeliveryFailure): Promise<void>;
  /**
   * The receiver said that it is gone (HTTP 410): the delivery and every other one of this owner to this URL is dead, and
   * so is every later one. Returns the ids.
   */
  gone(id: string, failure: DeliveryFailure): Promise<string[]>;
  isDisabled(owner: string, url: string): Promise<boolean>;
  /** Takes back that the URL is gone. False when nobody had said so. */
  enable(owner: string, url: string): Promise<boolean>;
  /** Dead → due, with all tries before it; its URL is enabled again. False when it is not dead. */
  revive(id: string, at: number): Promise<boolean>;
  /** Newest first. */
  list(page: { readonly state?: DeliveryState; readonly offset: number; readonly limit: number }): Promise<OutboxPage>;
  /** Forgets what ended, and which receivers said that they are gone, before then. Returns how many. */
  purge(before: { readonly ended: number; readonly gone: number }): Promise<number>;
  /** The salt of an agent's signing secret; the one given is kept when there is none. */
  salt(agentId: string, fresh: string): Promise<string>;
  /** Forgets it: whoever has this id next gets another secret. */
  forgetSalt(agentId: string): Promise<void>;
}

/** Why a delivery is dead that nobody tried. */
export const DISABLED = 'the receiver has answered 410 Gone to this sender before';

/** More than the tries of one life; those of lives before a "retry now" stay as long as there is room. */
export const MAX_FAILURES = 20;

import type { NewDelivery } from './outbox.ts';
import type { RequestKey } from './store.ts';

/** The URL to which the events of one request are sent. */
export interface PushConfig extends RequestKey {
  readonly configId: string;
  /** Unique among all configs. The ids of its deliveries begin with it. */
  readonly name: string;
  readonly url: string;
  /** The format of the events. */
  readonly version: string;
  /** Sealed by the vault; null when there are none. */
  readonly secrets: string | null;
  readonly createdAt: number;
  /** Identifies the last event that was put into the outbox or skipped; empty before the first. */
  readonly position: string;
  /** Whether nothing more will be sent. */
  readonly isOver: boolean;
}

export interface PushConfigRow extends PushConfig {
  /** The agent of the request. */
  readonly agentId: string;
}

export interface PushConfigStore {
  /**
   * Stores a config. An existing one with this id only gets the new URL, format and secrets. False, and nothing is
   * stored, when the request is gone or has `most` configs already.
   */
  put(config: PushConfig, most: number): Promise<boolean>;
  find(key: RequestKey, configId: string): Promise<PushConfigRow | undefined>;
  /** Oldest first. */
  list(key: RequestKey): Promise<PushConfigRow[]>;
  named(name: string): Promise<PushConfigRow | undefined>;
  /** Takes over at most `limit` configs that are not over and whose process is gone, oldest first. */
  claim(limit: number): Promise<PushConfigRow[]>;
  /** Puts the next delivery into the outbox and notes the position, in one commit. False when the config is gone. */
  advance(name: string, to: PushAdvance): Promise<boolean>;
  remove(key: RequestKey, configId: string): Promise<boolean>;
}

export interface PushAdvance {
  readonly position: string;
  readonly isOver: boolean;
  readonly delivery: NewDelivery | null;
}

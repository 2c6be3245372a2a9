import type { Clock, Engine, Ids, Log, NetworkGate, Store } from '@dragoman/core';
import type { Config } from './config-schema.ts';

/** What every service of a server is put together from. */
export interface ServiceOptions {
  readonly config: Config;
  /** Where everything durable is kept. */
  readonly folder: string;
  readonly engine: Engine;
  readonly store: Store;
  readonly gate: NetworkGate;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

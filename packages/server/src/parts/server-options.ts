import type { Clock, Ids, Log } from '@dragoman/core';
import type { CompleteConfig } from '../config/complete-config.ts';
import type { Config } from '../config/config-schema.ts';

export interface ServerOptions {
  readonly config: Config;
  /** The folder of all durable data. */
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The admin's key, when the operator brings one. Without it the first start makes one and hands it to `onAdminKey`. */
  readonly adminKey?: string;
  /** The key of the vault, when the operator brings one. Without it there is a key file in the folder. */
  readonly vaultKey?: string;
  /** The key that the vault is about to be sealed with, so that every server follows the change while it runs. */
  readonly nextVaultKey?: string;
  /** The values for `${NAME}` in the configuration. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly onAdminKey?: (key: string) => void;
  /** Start although the database has lost recorded history. Default: false. */
  readonly acceptLoss?: boolean;
  /** The disk failed: end the process. */
  readonly onFatal?: (error: Error) => void;
  /** Opens no port: the embedding program serves what it needs. Default: false. */
  readonly isEmbedded?: boolean;
  /** The fix for a changed tool of an MCP server that operators can apply without a running server. */
  readonly howToAccept?: (tool: string) => string;
}

/** The same, with every default of the configuration put in. */
export interface OpeningOptions extends ServerOptions {
  readonly config: CompleteConfig;
}

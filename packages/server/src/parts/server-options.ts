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
  /** The admin key of the operator. Without it, the first start generates a key and passes it to `onAdminKey`. */
  readonly adminKey?: string;
  /** The key of the vault. Without it, the key is in a file in the folder. */
  readonly vaultKey?: string;
  /** The key that the vault is about to be sealed with, so that every server follows the change while it runs. */
  readonly nextVaultKey?: string;
  /** The values for `${NAME}` in the configuration. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly onAdminKey?: (key: string) => void;
  /** Start although the database has lost recorded data. Default: false. */
  readonly acceptLoss?: boolean;
  /** Called after a failure of the disk: the process must end. */
  readonly onFatal?: (error: Error) => void;
  /** Opens no port: the embedding program serves what it needs. Default: false. */
  readonly isEmbedded?: boolean;
  /** The command with which an operator accepts a changed tool of an MCP server. */
  readonly howToAccept?: (tool: string) => string;
}

/** The options with a complete configuration. */
export interface OpeningOptions extends ServerOptions {
  readonly config: CompleteConfig;
}

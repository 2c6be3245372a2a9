import {
  type Clock,
  decodeHostPort,
  environmentKey,
  fileKey,
  type Log,
  type NetworkGate,
  openGate,
  openVault,
  type Store,
  type Vault,
} from '@dragoman/core';
import type { Config } from './config-schema.ts';

/** The vault and the gate of a server, as its configuration has them. */
export async function openOutside({ config, folder, store, clock, log }: OutsideOptions): Promise<Outside> {
  const given = process.env['DRAGOMAN_VAULT_KEY'];
  const key = given === undefined ? fileKey({ folder, log }) : environmentKey(given);
  const vault = await openVault({ store: store.credentials, clock, log, key });
  const allow = (config.gate?.allow ?? []).flatMap((name, index) => {
    const read = decodeHostPort(name, `/gate/allow/${index}`);
    if (!read.ok) throw new Error(read.issues[0]?.message);
    return read.value;
  });
  return {
    vault,
    gate: openGate({ clock, log, allow, secrets: vault }),
  };
}

export interface OutsideOptions {
  readonly config: Config;
  readonly folder: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Outside {
  readonly vault: Vault;
  readonly gate: NetworkGate;
}

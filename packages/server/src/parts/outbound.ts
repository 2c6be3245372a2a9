import { readFileSync } from 'node:fs';
import {
  EgressLog,
  environmentKey,
  fileKey,
  isPostgresUrl,
  type KeySource,
  type NetworkGate,
  openGate,
  openVault,
  passingKey,
  References,
  type Store,
  type Vault,
} from '@dragoman/core';
import { allowedLists } from '../config/allowed-lists.ts';
import { reloadableGate } from '../reload/reloadable-parts.ts';
import { adminCredentialRoutes } from '../routes/admin-credentials.ts';
import { adminEgressRoute } from '../routes/admin-egress.ts';
import type { ServerPart } from './part.ts';
import type { OpeningOptions } from './server-options.ts';

export interface OutboundPartOptions extends OpeningOptions {
  readonly store: Store;
}

export interface OutboundPart extends ServerPart {
  readonly vault: Vault;
  readonly gate: NetworkGate;
  readonly references: References;
}

/** The vault, and the gate that uses its secrets, as configured. */
export async function openOutboundPart(options: OutboundPartOptions): Promise<OutboundPart> {
  const { config, store, clock, log } = options;
  const vault = await openVault({ store: store.credentials, clock, log, key: keySource(options) });
  const { allow: _, callbacks: __, ca, ...limits } = config.gate;
  const egress = new EgressLog();
  const gate = openGate({ clock, log, ...allowedLists(config), ca: certificates(ca), secrets: vault, limits, egress });
  return {
    vault,
    gate,
    references: new References({ environment: options.environment, vault }),
    routes: [...adminCredentialRoutes(vault), adminEgressRoute(egress)],
    reloadables: [reloadableGate(gate)],
    families: {
      credentials: async () => {
        await vault.reload();
        return true;
      },
    },
    stop: () => gate[Symbol.asyncDispose](),
  };
}

function keySource({ config, folder, log, vaultKey, nextVaultKey }: OutboundPartOptions): KeySource {
  if (vaultKey !== undefined) return environmentKey(vaultKey, nextVaultKey);
  if (isPostgresUrl(config.store)) throw missingKey();
  // An in-memory store needs no persistent key.
  return config.store === 'memory' ? passingKey() : fileKey({ folder, log });
}

/**
 * The machines of a cluster share the database. A key in the folder of one machine would be lost with that machine, and
 * with the key all secrets in the database.
 */
function missingKey(): Error {
  const message = 'With a store in PostgreSQL the key of the vault must be in DRAGOMAN_VAULT_KEY, which is not set.';
  return Object.assign(new Error(message), { code: 'vault_key' });
}

function certificates(paths: string | readonly string[] = []): string[] {
  return [paths].flat().map((path) => {
    const text = certificateText(path);
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    throw new Error(`gate.ca: ${path} holds no certificate in PEM`);
  });
}

function certificateText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `file not found: ${path}` : `${path} cannot be read (${code})`;
    throw new Error(`gate.ca: ${why}`);
  }
}

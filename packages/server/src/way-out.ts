import { readFileSync } from 'node:fs';
import {
  type AllowedLists,
  type Clock,
  decodeHostPort,
  environmentKey,
  fileKey,
  type HostPort,
  type KeySource,
  type Log,
  type NetworkGate,
  openGate,
  openVault,
  passingKey,
  type Store,
  type Vault,
} from '@dragoman/core';
import type { Config } from './config-schema.ts';

export interface WayOutOptions {
  readonly config: Config;
  readonly folder: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The operator's own key of the vault. */
  readonly vaultKey: string | undefined;
}

/** The vault and the gate that has its secrets from it, as the configuration wants them. */
export async function openWayOut(
  options: WayOutOptions,
): Promise<{ readonly vault: Vault; readonly gate: NetworkGate }> {
  const { config, store, clock, log } = options;
  const vault = await openVault({ store: store.credentials, clock, log, key: keySource(options) });
  const { allow: _, callbacks: __, ca, ...limits } = config.gate ?? {};
  const gate = openGate({ clock, log, ...allowedLists(config), ca: certificates(ca), secrets: vault, limits });
  return { vault, gate };
}

function keySource({ config, folder, log, vaultKey }: WayOutOptions): KeySource {
  if (vaultKey !== undefined) return environmentKey(vaultKey);
  // What is kept in memory needs no key that outlives it.
  return config.store === 'memory' ? passingKey() : fileKey({ folder, log });
}

/** `gate.allow` and `gate.callbacks` of a configuration. */
export function allowedLists({ gate = {} }: Config): AllowedLists {
  const hostsIn = (list: keyof AllowedLists): HostPort[] =>
    (gate[list] ?? []).map((text, index) => {
      const outcome = decodeHostPort(text, `/gate/${list}/${index}`);
      if (outcome.ok) return outcome.value;
      throw new Error(outcome.issues.map(({ message, suggestion }) => `${message}; ${suggestion}`).join('\n'));
    });
  return { allow: hostsIn('allow'), callbacks: hostsIn('callbacks') };
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
    const why = code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read (${code})`;
    throw new Error(`gate.ca: ${why}`);
  }
}

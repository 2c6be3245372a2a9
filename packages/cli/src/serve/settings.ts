import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isPostgresUrl } from '@dragoman/core';
import { nearest } from '@dragoman/protocols';
import { type Config, readConfig } from '@dragoman/server';
import { asWord } from '../as-word.ts';
import { PROGRAM } from '../command.ts';
import { DEFAULT_CONFIG, DEFAULT_DATA, DEFAULT_HOST, DEFAULT_PORT, given, portIn } from '../environment.ts';
import { shortPath } from '../short-path.ts';
import type { Surroundings } from '../surroundings.ts';
import { fail } from '../trouble.ts';
import type { LogLevel } from './serve-options.ts';

/** The options of `serve` and `dev`. */
export interface ServeOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly data?: string;
  readonly acceptLoss?: boolean;
  readonly logLevel?: LogLevel;
}

/** The settings with which a server is started. */
export interface ServeSettings {
  readonly config: Config & { readonly host: string; readonly port: number };
  /** The path of the configuration file, if there is one. */
  readonly configPath: string | undefined;
  /**
   * The options `--config` and `--data` as given, for the commands in messages: ` --config x.yaml`, or an empty text.
   */
  readonly flags: { readonly config: string; readonly data: string };
  /** The absolute path of the data folder. */
  readonly data: string;
  /** Start although the database has lost recorded history. */
  readonly acceptLoss?: boolean;
  /** The admin key, if the operator has set one. */
  readonly adminKey: string | undefined;
  readonly vaultKey: string | undefined;
  /** The next key of the vault, during a rotation. */
  readonly nextVaultKey?: string | undefined;
}

type Place = Pick<Surroundings, 'environment' | 'folder'>;

/** Reads the configuration file, if there is one, and applies what overrides it. */
export function readSettings(options: ServeOptions, place: Place, usual?: { data: string }): ServeSettings {
  return settingsFrom(readConfigFile(options.config, place.folder), options, place, usual);
}

/** Options take precedence over the environment, that over the file, and that over the defaults. */
export function settingsFrom(
  { path, config }: ConfigFile,
  options: ServeOptions,
  { environment, folder }: Place,
  usual: { data: string } = { data: DEFAULT_DATA },
): ServeSettings {
  const store = storeIn(environment) ?? config.store;
  return {
    config: {
      ...config,
      host: options.host ?? given(environment, 'DRAGOMAN_HOST') ?? config.host ?? DEFAULT_HOST,
      port: options.port ?? portIn(environment) ?? config.port ?? DEFAULT_PORT,
      ...(store !== undefined && { store }),
      ...(options.logLevel !== undefined && { log: { ...config.log, level: options.logLevel } }),
    },
    configPath: path,
    flags: { config: flag('--config', options.config), data: flag('--data', options.data) },
    data: resolve(folder, options.data ?? given(environment, 'DRAGOMAN_DATA') ?? usual.data),
    ...(options.acceptLoss !== undefined && { acceptLoss: options.acceptLoss }),
    adminKey: given(environment, 'DRAGOMAN_ADMIN_KEY'),
    vaultKey: given(environment, 'DRAGOMAN_VAULT_KEY'),
    nextVaultKey: given(environment, 'DRAGOMAN_VAULT_KEY_NEXT'),
  };
}

/** The path of the configuration file as text. */
export function configPlace({ configPath }: Pick<ServeSettings, 'configPath'>, folder: string): string {
  return configPath === undefined ? NO_CONFIG : shortPath(folder, configPath);
}

interface ConfigFile {
  /** `undefined` if there is no file. */
  readonly path: string | undefined;
  readonly config: Config;
}

function readConfigFile(option: string | undefined, folder: string): ConfigFile {
  const path = resolve(folder, option ?? DEFAULT_CONFIG);
  // Without a file all defaults apply, but a file that was given must exist.
  if (option === undefined && !existsSync(path)) return { path: undefined, config: {} };
  const outcome = readConfig(path);
  if (outcome.ok) return { path, config: outcome.value };
  const count = outcome.issues.length === 1 ? 'a problem' : `${outcome.issues.length} problems`;
  fail({
    code: 'bad_config',
    message: `${option ?? DEFAULT_CONFIG} has ${count}`,
    issues: outcome.issues,
    fixes: [`check it without starting a server: ${PROGRAM} doctor${flag('--config', option)}`],
  });
}

function flag(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${name} ${asWord(value)}`;
}

function storeIn(environment: Place['environment']): Config['store'] | undefined {
  const text = given(environment, 'DRAGOMAN_STORE');
  if (text === undefined || STORES.includes(text) || isPostgresUrl(text)) return text;
  const close = nearest(text, STORES);
  fail({
    code: 'bad_environment',
    message: `DRAGOMAN_STORE must be ${STORES.join(', ')} or a postgres:// URL; got ${JSON.stringify(text)}`,
    fixes: [close === undefined ? 'unset DRAGOMAN_STORE' : `did you mean ${close}?`],
  });
}

const STORES = ['sqlite', 'memory'];
const NO_CONFIG = `no ${DEFAULT_CONFIG} in this folder; using the defaults`;

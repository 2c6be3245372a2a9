import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@dragoman/core';
import { type CompleteConfig, completeConfig } from '../config/complete-config.ts';
import { type Config, ConfigShape } from '../config/config-schema.ts';

/** A part of a server that can take over another configuration while it runs. */
export interface Reloadable {
  /** The configuration keys it is created from, such as `agents` or `gate.allow`. */
  readonly names: readonly string[];
  /** Whether the part must be prepared again with the same configuration, because a file has changed. */
  isStale?(): boolean;
  /** Does everything that may fail, without effect until `put`. */
  prepare(config: CompleteConfig): Prepared | Promise<Prepared>;
}

export interface Prepared {
  put(): void | Promise<void>;
  /** Discards what was prepared, because the configuration is not taken over. */
  drop?(): Promise<void>;
}

/** The result of a configuration change. */
export interface Reloaded {
  /** The names that took effect. */
  readonly changed: readonly string[];
  /** The names that take effect with the next start. */
  readonly waiting: readonly string[];
}

/** Changes the configuration of a running server: every changed part, or none if one of them fails. */
export class Reloading {
  #running: Config;
  readonly #parts: readonly Reloadable[];
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();

  constructor(config: Config, parts: readonly Reloadable[], clock: Clock) {
    this.#running = config;
    this.#parts = parts;
    this.#clock = clock;
  }

  /**
   * Takes over a configuration, after earlier calls are done. Rejects if a part cannot take it over, or if the
   * configuration looks cut off; then nothing has changed.
   */
  reload(config: Config, { allowEmpty = false }: ReloadOptions = {}): Promise<Reloaded> {
    const reloaded = this.#last.then(() => {
      if (!allowEmpty) refuseCutOff(this.#running, config);
      return this.#reload(config);
    });
    this.#last = reloaded.catch(() => {});
    return reloaded;
  }

  async #reload(config: Config): Promise<Reloaded> {
    const different = NAMES.filter((name) => !isDeepStrictEqual(valueAt(this.#running, name), valueAt(config, name)));
    const isDifferent = ({ names }: Reloadable) => names.some((name) => different.includes(name));
    const parts = this.#parts.filter((part) => isDifferent(part) || part.isStale?.() === true);
    const prepared: Prepared[] = [];
    try {
      for (const part of parts) prepared.push(await this.#prepared(part, config));
    } catch (error) {
      await Promise.all(prepared.map((one) => one.drop?.()));
      throw error;
    }
    for (const { put } of prepared) await put();
    const taken = parts.flatMap((part) =>
      isDifferent(part) ? part.names.filter((name) => different.includes(name)) : part.names,
    );
    const changed = [...new Set(taken)];
    for (const name of changed) this.#running = withValueAt(this.#running, name, valueAt(config, name));
    return { changed, waiting: different.filter((name) => !changed.includes(name)) };
  }

  /** Prepares a part, with a time limit: a part that never becomes ready would block every later change. */
  async #prepared(part: Reloadable, config: Config): Promise<Prepared> {
    const preparing = Promise.resolve(part.prepare(completeConfig(config)));
    const over = new AbortController();
    const late = this.#clock.wait(PATIENCE_MS, over.signal).then(() => {
      throw new Error(`${part.names.join(', ')}: not ready after ${PATIENCE_MS / 1000} s; ${WAITING}`);
    });
    try {
      return await Promise.race([preparing, late]);
    } catch (error) {
      // If the part becomes ready after the time limit, it is dropped.
      preparing.then((one) => one.drop?.()).catch(() => {});
      throw error;
    } finally {
      over.abort();
    }
  }
}

export interface ReloadOptions {
  /** Accept a configuration that removes every agent. */
  readonly allowEmpty?: boolean;
}

/** Refuses a configuration that looks cut off: a file that is still being written may parse. */
function refuseCutOff(running: Config, next: Config): void {
  if (next.version !== undefined) return;
  if (hasAgents(next) || !(hasAgents(running) || (isBare(next) && !isBare(running)))) return;
  throw Object.assign(new Error(CUT_OFF), { code: 'config_cut_off' });
}

function hasAgents({ agents = {} }: Config): boolean {
  return Object.keys(agents).length > 0;
}

/** Whether it sets only values that the command line and the environment can set, too. */
function isBare({ host: _host, port: _port, store: _store, ...rest }: Config): boolean {
  return Object.keys(rest).length === 0;
}

function valueAt(config: Config, name: string): unknown {
  const [key = '', member] = name.split('.');
  const value: unknown = Reflect.get(config, key);
  return member === undefined ? value : Reflect.get(Object(value), member);
}

function withValueAt(config: Config, name: string, value: unknown): Config {
  const [key = '', member] = name.split('.');
  const before: unknown = Reflect.get(config, key);
  return { ...config, [key]: member === undefined ? value : { ...Object(before), [member]: value } };
}

/** Every key of a configuration. A key with members is replaced by its members. */
const NAMES = Object.entries(ConfigShape.properties).flatMap(([key, shape]) => {
  // `version` is about the file, not about the server.
  if (key === 'version') return [];
  return 'properties' in shape ? Object.keys(shape.properties).map((member) => `${key}.${member}`) : [key];
});
const PATIENCE_MS = 60_000;
const WAITING = 'does a file have a top-level await that never resolves?';
const CUT_OFF = 'the new configuration is empty or removes every agent, so it may be incomplete';
